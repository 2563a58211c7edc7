namespace n {
void f() {
    if (a) {
        b();
    }
}
}
