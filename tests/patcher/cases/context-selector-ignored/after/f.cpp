void foo(){}
void bar(int){}
