int z;
int b;
