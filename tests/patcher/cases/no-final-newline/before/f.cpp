void f() { a(); }
void g() { c(); }