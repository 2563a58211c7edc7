void f(){ a != b; }
