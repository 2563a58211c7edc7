#include <a>
int x;
