int b;
int c;
