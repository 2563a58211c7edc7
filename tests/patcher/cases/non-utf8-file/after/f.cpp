void f(){ target(2); } // café
