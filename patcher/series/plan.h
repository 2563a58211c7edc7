#pragma once

#include <optional>
#include <string>
#include <vector>

#include "patcher/series/judge.h"
#include "patcher/series/series.h"
#include "patcher/tree/file_map.h"

namespace patcher {

// What somebody who knows more than the series and the tree has to say about a patch: carry, where
// the tree that the series was made for is at hand (carry/base_review.h). Only tells.
class Review {
 public:
  virtual ~Review() = default;
  // Why patch `i` (from 0), which makes `result` of `target`, must not; empty when it may.
  virtual std::vector<Finding> objections(size_t i, const FileMap& target,
                                          const FileMap& result) const = 0;
  // Why patch `i`, which is recognised in `target` and leaves `without` when taken off, is not
  // there for all that; empty when it is.
  virtual std::vector<Finding> objections_in_place(size_t i, const FileMap& target,
                                                   const FileMap& without) const = 0;
  // Where patch `i`, which has no place on the tree, would have one. `known` is what is told
  // already.
  virtual std::vector<std::string> hints(size_t i, const FileMap& on_disk,
                                         const std::string& known) = 0;
};

// What a run over the whole series would do. Computed in memory, all of it, before anything is
// written: the dry run is the real run minus the write.
struct PatchPlan {
  size_t number = 0;  // from 1
  const Patch* patch = nullptr;
  Verdict verdict = Verdict::kApplies;
  std::vector<Finding> findings = {};
  std::vector<Finding> notes = {};
  std::vector<std::string> paths = {};  // without doubles, in order
  FileMap before;                       // the tree without and with this patch
  FileMap after;
};

struct Plan {
  std::vector<PatchPlan> patches = {};
  size_t applied = 0;  // that many of the series' first patches were in the tree
  FileMap on_disk;
  FileMap result;  // what to write; equals on_disk after a refusal

  bool refused() const;
  // The verdict of the first refused patch, or kApplies, or kAlreadyApplied when all are.
  Verdict verdict() const;
};

// Who is to have put into the tree what is there already. kAnybody: the series' first patches that
// are there count as applied. kUpstream: nobody has applied the series, so that each is obsolete.
enum class InTree { kAnybody, kUpstream };

// REQUIRES series.errors.empty(). Patch k is judged on the result of patches 1..k-1; a refused
// patch changes nothing, and the ones after it are still judged, so that one run reports all
// failures. With a review (of the same series), a patch that it objects to is refused as well, and
// one that has no place gets its hints.
Plan plan_apply(const Series& series, const FileMap& on_disk, Review* review = nullptr,
                InTree in_tree = InTree::kAnybody);

// The same for taking the applied patches off, last first: kApplies means that the undoing applies,
// kAlreadyApplied that the patch is not in the tree.
Plan plan_revert(const Series& series, const FileMap& on_disk);

// The patches from series.patches[count] on that are applied: taking off only those before them
// would leave them on a tree that they were not made for. kOutdated.
std::vector<Finding> applied_above(const Series& series, size_t count, const FileMap& on_disk);

}  // namespace patcher
