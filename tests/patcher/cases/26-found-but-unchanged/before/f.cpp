void f() { a(); }
