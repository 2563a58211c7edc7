int a;
int b;