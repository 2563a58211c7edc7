void f() { f(a()); }
