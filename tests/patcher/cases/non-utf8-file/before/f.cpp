void f(){ target(1); } // café
