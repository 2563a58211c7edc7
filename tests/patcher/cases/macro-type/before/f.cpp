#define REAL double
typedef REAL foo;
