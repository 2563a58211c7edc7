const char*s = R"(
target(n);
)"; void f(int n){ target(n); }
