// note \
int ghost(int x){return x;}
int f;
