void f(){ a * c; }
