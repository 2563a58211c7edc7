void f() {
	if (a) {
		if (c) {
			d();
		}
		b();
	}
}
