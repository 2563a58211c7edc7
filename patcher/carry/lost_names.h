#pragma once

#include <string>
#include <vector>

#include "patcher/syntax/source.h"

namespace patcher {

// A name that an added line uses although it does not mean there what it meant in the base.
struct LostName {
  std::string name = {};
  uint32_t byte = 0;     // in `after`: its first new use
  bool changed = false;  // still there, but the function takes other parameters now
  bool local = false;    // a variable of the function, which declares it no more
};

std::string message(const LostName& lost);

// Names that lines of `after` add: those that the base defines (functions, types, macros) and the
// target neither defines nor uses, functions that are called with the base's one signature and have
// another one in the target, and variables that the base's function declares and the target's has
// nowhere. Looks at this file only.
std::vector<LostName> lost_names(const Source& base, const Source& after, const Source& target);

// Functions that lines of `after` call with as many arguments as the base has in all of its calls
// and declarations of them, where the target has another number in all of its own: what they take
// has changed, wherever they are defined.
std::vector<LostName> changed_calls(const Source& base, const Source& after, const Source& target);

// Names that lines of `after` add, that the base has and the target has not. Whether they are lost
// depends on the target's other files.
std::vector<LostName> missing_names(const Source& base, const Source& after, const Source& target);

}  // namespace patcher
