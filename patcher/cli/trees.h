#pragma once

#include <memory>
#include <string>
#include <vector>

#include "patcher/carry/base_review.h"
#include "patcher/cli/command.h"
#include "patcher/report/reporter.h"
#include "patcher/tree/file_map.h"

namespace patcher {

// The trees that a command line names. All throw BrokenEnvironment.

// The files of a directory, or of the revision `rev` of it unless that is empty; it is told to
// `report` by `tell`.
FileMap open_tree(const std::string& directory, const std::string& rev, Reporter& report,
                  void (Reporter::*tell)(Revision));

// What --root and --rev name, for a run that writes nothing, not even what a killed run left to
// finish: that is refused.
FileMap dry_tree(const Options& options, Reporter& report);

// Finishes or rolls back what a killed run left in the tree, and notes it.
void settle_journal(const TreeRoot& root, Reporter& report);

// The review of a series against its base; null where no base is given, or a patch is wrong in
// itself, which is the plan's to report. `errors` gets what does not fit the base.
std::unique_ptr<BaseReview> base_review(const Series& series, const Options& options,
                                        Reporter& report, std::vector<Finding>& errors);

MoveRule move_rule(const Options& options);

}  // namespace patcher
