void f() { b(); }
void g() { d(); }