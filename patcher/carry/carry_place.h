#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "patcher/base/verdict.h"
#include "patcher/hunk/token_index.h"
#include "patcher/text/change_blocks.h"

namespace patcher {

// Where in the target a block of changed lines belongs: its code tokens before the change are
// [begin, end) there; an insertion's are empty.
struct CarriedPlace {
  size_t begin = 0;
  size_t end = 0;
  enum class Choice {
    kNone,
    kOneSided,   // only the neighbours on one side are still there
    kParagraph,  // others are between them; it is where a blank line is, as it was
  };
  Choice choice = Choice::kNone;
};

// Finds the places of one file's blocks. A block is looked up inside the function (by name, and
// parameters where the name is shared) or type that holds it, by runs of tokens around and of it,
// long to short and one-sided, and by the lines next to it. A run counts if it is there once in the
// base's scope; every run that is found in the target's must agree on the place, and one that is
// found twice refuses. What is added between two paragraphs stays there when a neighbour's grew.
//
// A function that is gone may have another name now: then the runs must be there once in the whole
// file, in one function that the base does not have. Lines that have gone to another function, also
// out of one that is still there, are followed where a long run on both sides of them is there once
// in either file.
class PlaceFinder {
 public:
  PlaceFinder(const TokenIndex& base, const TokenIndex& target) : base_(base), target_(target) {}

  // The place, or why there is none.
  std::optional<CarriedPlace> find(const ChangeBlock& block, Finding& failure);
  // Where a block is looked for: the definition that holds it, or all of both files.
  struct Ranges {
    CodeRange base = {};
    CodeRange target = {};
    const Scope* scope = nullptr;  // in the base
    bool renamed = false;
  };
  // Nothing where that is not known, with the reason.
  std::optional<Ranges> ranges(const ChangeBlock& block, Finding& failure) const;

 private:
  // A run around the block: so many tokens before it and behind it.
  struct Shape {
    size_t left = 0;
    size_t right = 0;
    size_t fewest = 0;         // a run of fewer tokens in all says too little
    bool doubts = false;       // may contradict the others, and finds no place alone
    bool last_resort = false;  // looked for only where no other finds a place
  };
  // What the runs found.
  struct Found {
    std::optional<size_t> place;
    bool one_sided = true;
    bool surrounded = false;       // by long runs on both sides
    std::optional<size_t> before;  // by what stood before the block alone
    std::optional<size_t> behind;
    std::optional<size_t> apart;  // another place than `place`
  };
  std::vector<Shape> shapes(const ChangeBlock& block, const Ranges& in) const;
  bool look(const ChangeBlock& block, const Ranges& in, Found& found, Finding& failure) const;
  void look_at_end(const ChangeBlock& block, const Ranges& in, Found& found) const;
  bool pushed_away(const ChangeBlock& block, const Ranges& in, const Found& found) const;
  bool as_deep(const ChangeBlock& block, const Ranges& in, size_t place) const;
  bool settle(const ChangeBlock& block, Found& found) const;
  void refuse(Verdict verdict, size_t code, std::string message, Finding& failure) const;
  std::optional<CarriedPlace> find(const ChangeBlock& block, const Ranges& in, Finding& failure);
  std::optional<CarriedPlace> find_moved(const ChangeBlock& block, const Ranges& in);
  bool in_new_function(size_t code, const Scope& scope);

  const TokenIndex& base_;
  const TokenIndex& target_;
  std::map<const Scope*, const Scope*> renamed_;  // the base's functions and the target's
  std::map<const Scope*, const Scope*> moved_;    // where lines of a function have gone
};

}  // namespace patcher
