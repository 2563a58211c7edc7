#include <a>
#include <n.h>
int x;
