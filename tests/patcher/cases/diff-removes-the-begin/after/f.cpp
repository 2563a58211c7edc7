int b;
int c;
int d;
