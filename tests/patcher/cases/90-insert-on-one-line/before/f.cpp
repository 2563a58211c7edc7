void f() { a(); c(); }
