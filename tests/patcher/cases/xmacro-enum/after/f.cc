enum class Op {
#define X(n) n,
OPS(X)
#undef X
kEnd };
