MY_API
int start(int x){ return 0; }
