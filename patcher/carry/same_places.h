#pragma once

#include <optional>
#include <string>

#include "patcher/base/verdict.h"
#include "patcher/carry/base_steps.h"
#include "patcher/carry/counterpart.h"

namespace patcher {

// What is told of a place that is not proven to be the block's.
Finding stray_finding(const TokenIndex& base, const TokenIndex& target, const ChangeBlock& block,
                      const CarriedPlace& place, const KinshipAnswer& answer);

// What is told of lines that the target has added too (see near_twin.h), at its token `twin`.
Finding twin_finding(const TokenIndex& base, const TokenIndex& target, const ChangeBlock& block,
                     size_t twin);

// Whether a patch that has its places in `target` has them where it had them in its base: the
// finding if it changed what is another part's counterpart, or what may be. `result` is the target
// with the patch. Also if the target has by now what it adds, beside the place. Changes
// that differ from those of the base are left to the patch's own anchors.
std::optional<Finding> strayed(const BaseStep& from, const FileMap& target, const FileMap& result);

// The same of a patch that is recognised in `target`: whether it is in its own part, and not in one
// that looks like it. `without` is the target with the patch taken off.
std::optional<Finding> strayed_in_place(const BaseStep& from, const FileMap& target,
                                        const FileMap& without);

}  // namespace patcher
