void f() {
	if (a) {
		b();
	}
}
