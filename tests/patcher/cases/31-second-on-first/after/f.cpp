void f() { g(b()); }
