#define H(x) other(x); \
             done()
int f;
