int target(int n){return n;}  int target(double n){return 0;}
namespace a { int target(int n){return n;} }  struct S{ int target(int n){return n;} };
template<class T> int target(T n){return n;}  template<> int target<char>(char n){return n;}
