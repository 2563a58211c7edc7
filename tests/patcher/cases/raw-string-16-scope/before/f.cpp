const char* s = R"ABCDEFGHIJKLMNOP(
target(n);
)ABCDEFGHIJKLMNOP";
void target(int n){n++;}
