void f(){ a * b; }
