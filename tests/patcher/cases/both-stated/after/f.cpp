void f() {
#ifdef A
 bar();
#else
 bar();
#endif
}
