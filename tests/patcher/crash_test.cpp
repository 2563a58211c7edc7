#include "tests/patcher/scratch.h"
