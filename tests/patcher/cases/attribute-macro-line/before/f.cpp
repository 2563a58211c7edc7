MY_API
int start(int x){ return x; }
