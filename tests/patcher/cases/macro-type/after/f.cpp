#define REAL double
using foo = REAL;
