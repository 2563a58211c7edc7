void f(){ if (a) { step(); important(); } }
