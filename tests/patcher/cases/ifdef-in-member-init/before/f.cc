struct S { int a_, b_;
  S(int a) : a_(a)
#ifdef X
  , b_(2)
#endif
  { go(); }
  void after() { a_ = 1; }
};
