#include "patcher/cli/trees.h"

#include <fmt/format.h>

#include <algorithm>

#include "patcher/base/error.h"
#include "patcher/git/revision_tree.h"
#include "patcher/write/journal.h"

namespace patcher {
namespace {

// The call of carry for the trees and the series of a check or apply with a base.
std::string call_of_carry(const Options& o) {
  std::string call = "patcher carry";
  if (o.base_rev.empty() || o.base_tree() != o.root) call += " --base " + o.base;
  if (!o.base_rev.empty()) call += " --base-rev " + o.base_rev;
  call += " --root " + o.root;
  if (!o.rev.empty()) call += " --rev " + o.rev;
  return fmt::format("{} --series {}{} --out-dir DIR", call, o.series,
                     o.follow_moves ? " --follow-moves" : "");
}

}  // namespace

FileMap open_tree(const std::string& directory, const std::string& rev, Reporter& report,
                  void (Reporter::*tell)(Revision)) {
  if (rev.empty()) return FileMap(std::make_shared<const TreeRoot>(directory));
  const auto repository = Repository::around(directory);
  const Revision revision = repository->resolve(rev);
  (report.*tell)(revision);
  return FileMap(std::make_shared<RevisionTree>(repository, revision));
}

FileMap dry_tree(const Options& options, Reporter& report) {
  if (options.rev.empty() && has_journal(TreeRoot(options.root))) {
    throw BrokenEnvironment(fmt::format(
        "{}/{}: a run was cut off; `patcher apply` or `revert` finishes or rolls it back first",
        options.root, kJournalName));
  }
  return open_tree(options.root, options.rev, report, &Reporter::judged);
}

void settle_journal(const TreeRoot& root, Reporter& report) {
  const Recovery done = recover(root);
  if (done == Recovery::kNothing) return;
  report.note(fmt::format("a run that was cut off was {}",
                          done == Recovery::kFinished ? "finished" : "rolled back"));
}

std::unique_ptr<BaseReview> base_review(const Series& series, const Options& options,
                                        Reporter& report, std::vector<Finding>& errors) {
  if (!options.has_base()) return nullptr;
  const FileMap tree =
      open_tree(options.base_tree(), options.base_rev, report, &Reporter::based_on);
  const auto& patches = series.patches;
  if (!std::all_of(patches.begin(), patches.end(), [](const auto& p) { return p.usable(); })) {
    return nullptr;
  }
  std::vector<BaseStep> steps = base_steps(series, tree, errors);
  if (!errors.empty()) return nullptr;
  return std::make_unique<BaseReview>(std::move(steps), call_of_carry(options), move_rule(options));
}

MoveRule move_rule(const Options& options) {
  return options.follow_moves ? MoveRule::kFollow : MoveRule::kRefuse;
}

}  // namespace patcher
