#include "impl.h"
#include "a.h"
#include "b.h"

int x;
