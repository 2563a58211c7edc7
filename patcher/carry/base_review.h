#pragma once

#include <optional>
#include <string>
#include <vector>

#include "patcher/carry/carry_series.h"
#include "patcher/series/plan.h"

namespace patcher {

// What the base that a series was made for tells about the series on another tree: whether a patch
// that has its places there means there what it meant, and where carry would place one that has
// none. Only tells: it places nothing.
class BaseReview : public Review {
 public:
  // `steps` of the whole series, see base_steps(); `command`: the call of carry to offer, and by
  // which rule it moves.
  BaseReview(std::vector<BaseStep> steps, std::string command, MoveRule moves)
      : steps_(std::move(steps)), command_(std::move(command)), moves_(moves) {}

  // Why patch `i` (from 0), which makes `result` of `target`, must not; empty when it may.
  std::vector<Finding> objections(size_t i, const FileMap& target,
                                  const FileMap& result) const override;

  // Why what is recognised as patch `i` is not in the part of the tree that the patch changes.
  std::vector<Finding> objections_in_place(size_t i, const FileMap& target,
                                           const FileMap& without) const override;

  // What carry would make of patch `i` on the tree, in the series' turn. `known` is what is told
  // already. The first call carries the whole series.
  std::vector<std::string> hints(size_t i, const FileMap& on_disk,
                                 const std::string& known) override;

 private:
  std::vector<BaseStep> steps_;
  std::string command_;
  MoveRule moves_;
  std::optional<std::vector<CarriedPatch>> carried_ = {};  // all, once one was asked for
};

}  // namespace patcher
