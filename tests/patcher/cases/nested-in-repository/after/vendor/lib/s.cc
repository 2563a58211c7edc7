int a() { return 2; }
