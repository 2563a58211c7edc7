#define H(x) target(x); done()
int f;
