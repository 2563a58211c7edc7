#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "patcher/carry/carry_place.h"
#include "patcher/hunk/token_index.h"
#include "patcher/text/change_blocks.h"

namespace patcher {

// What git's merge of lines says of a change: where it is clean, it names a place for each block.
// That is no proof, since an alignment of lines may slide, but a second opinion where the tokens
// around a block say nothing. Borrows what it is made of.
class MergeWitness {
 public:
  MergeWitness(const TokenIndex& base, std::string_view after, const TokenIndex& target);

  // Nothing where the merge is in conflict, or does not do all of the change.
  const std::optional<std::string>& merged() const { return merged_; }
  // Where it does the block; nothing where that is not known. What is only added must have
  // the lines beside it there, up to one that says more than a bracket or an `#endif`; of what
  // is part of a paragraph, the blank line at the paragraph's end will do for one side.
  std::optional<CarriedPlace> place(const ChangeBlock& block) const;

 private:
  bool is_beside_its_lines(const ChangeBlock& block, const ChangeBlock& there,
                           size_t in_target) const;
  bool ends_a_block(const ChangeBlock& block, size_t in_base, size_t in_target) const;
  bool says_something(size_t begin, size_t end) const;
  bool follows_its_lines(size_t in_base, size_t in_target) const;
  bool precedes_its_lines(size_t in_base, size_t in_target) const;

  const TokenIndex& base_;
  const std::string after_;
  const TokenIndex& target_;
  std::optional<std::string> merged_;
  std::vector<ChangeBlock> blocks_;  // of the base
  std::vector<ChangeBlock> there_;   // of the target, one for each
};

}  // namespace patcher
