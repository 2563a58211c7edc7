#include "a.h"
#include "b.h"

int x;
int y;
