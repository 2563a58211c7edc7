void f(){ a == b; }
