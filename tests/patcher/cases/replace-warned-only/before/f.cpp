int f() { return kFooBar; }
