#pragma once

#include <map>
#include <optional>
#include <string>

#include "patcher/change_blocks.h"
#include "patcher/token_index.h"
#include "patcher/verdict.h"

namespace patcher {

// Where in the target a block of changed lines belongs: its code tokens before the change are
// [begin, end) there; an insertion's are empty.
struct CarriedPlace {
  size_t begin = 0;
  size_t end = 0;
  CodeRange scope = {};    // of the target, where it was looked for
  bool one_sided = false;  // only the neighbours on one side are still there
};

// Finds the places of one file's blocks. A block is looked up inside the function (by name, and
// parameters where the name is shared) or type that holds it, by runs of tokens around and of it,
// long to short and one-sided. A run counts if it is there once in the base's scope; every run that
// is found in the target's must agree on the place, and one that is found twice refuses.
//
// A function that is gone may have another name now: then the runs must be there once in the whole
// file, in one function that the base does not have.
class PlaceFinder {
 public:
  PlaceFinder(const TokenIndex& base, const TokenIndex& target) : base_(base), target_(target) {}

  // The place, or why there is none.
  std::optional<CarriedPlace> find(const ChangeBlock& block, Finding& failure);

 private:
  struct Ranges {
    CodeRange base = {};
    CodeRange target = {};
    const Scope* scope = nullptr;  // in the base
    bool renamed = false;
  };
  std::optional<Ranges> ranges(const ChangeBlock& block, Finding& failure) const;
  bool in_new_function(size_t code, const Scope& scope);

  const TokenIndex& base_;
  const TokenIndex& target_;
  std::map<const Scope*, const Scope*> renamed_;  // the base's functions and the target's
};

}  // namespace patcher
