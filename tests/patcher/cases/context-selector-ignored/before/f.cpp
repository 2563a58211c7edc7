void foo(){}
void bar(){}
