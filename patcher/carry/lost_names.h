#pragma once

#include <string>
#include <vector>

#include "patcher/syntax/source.h"

namespace patcher {

// A name that does not mean what it meant in the base where a change uses or removes it.
struct LostName {
  enum class Kind {
    kGone,          // an added line uses it
    kOtherShape,    // it is called, and takes other parameters now
    kLocal,         // a variable of the function, which does not have it there
    kStillUsed,     // the change removes what the target still uses
    kBeforeRemoved  // the change removes a call that follows one of it, and it is gone
  };
  Kind kind = Kind::kGone;
  std::string name = {};
  uint32_t byte = 0;  // in `after`: its first new use, or where it is said in another text
};

std::string message(const LostName& lost);

// One file of a change in the base and in the target, which `result` is with the change.
struct ChangedFile {
  const Source& base;
  const Source& after;
  const Source& target;
  const Source& result;
};

// Names that lines of `after` add: those that the base defines (functions, types, macros) and the
// target neither defines nor uses, and functions that are called with the base's one signature and
// have another one in the target. Looks at this file only.
std::vector<LostName> lost_names(const Source& base, const Source& after, const Source& target);

// Functions, types and macros whose one definition the change removes, which the base has no use of
// afterwards, and which `result` still uses. Their bytes are in `result`.
std::vector<LostName> still_used_names(const ChangedFile& file);

// Functions that lines of `after` call with as many arguments as the base has in all of its calls
// and declarations of them, where the target has another number in all of its own: what they take
// has changed, wherever they are defined.
std::vector<LostName> changed_calls(const Source& base, const Source& after, const Source& target);

// Names that lines of `after` add and do not declare, and that the target has not, in two parts:
// those that the base has, and others. Whether they are lost depends on the trees' other files.
struct MissingNames {
  std::vector<LostName> known;
  std::vector<LostName> unknown;
};
MissingNames missing_names(const Source& base, const Source& after, const Source& target);

}  // namespace patcher
