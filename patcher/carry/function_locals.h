#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include "patcher/syntax/source.h"

namespace patcher {

// Where a function mentions names, other than as a member's, and in which of its blocks. Borrows
// the source.
class FunctionLocals {
 public:
  struct Mention {
    uint32_t token = 0;
    size_t block = 0;       // an index, 0 for the function with its parameters
    bool declares = false;  // for certain: `T x`, `T *x` at a statement's begin or a parameter
  };

  // REQUIRES a function of the source.
  FunctionLocals(const Source& source, const Scope& function);

  // In order; empty for a name that is not there.
  const std::vector<Mention>& mentions(std::string_view name) const;
  std::vector<std::string_view> declared() const;
  size_t declarations(std::string_view name) const;
  // Whether `m` is a mention of what is declared where `use` cannot see it: in a block that is not
  // around it, or behind it.
  bool is_of_another(std::string_view name, const Mention& m, const Mention& use) const;

 private:
  bool is_around(size_t outer, size_t inner) const;
  // Whether what `m` declares is known where `use` is.
  bool reaches(const Mention& m, const Mention& use) const;

  std::vector<size_t> around_;  // of each block the one that it is in; the first is in itself
  std::map<std::string_view, std::vector<Mention>> mentions_;
};

}  // namespace patcher
