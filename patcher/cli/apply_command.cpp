#include <CLI/CLI.hpp>

#include "patcher/cli/command.h"
#include "patcher/cli/trees.h"
#include "patcher/git/revision_tree.h"
#include "patcher/series/plan.h"
#include "patcher/write/commit_series.h"
#include "patcher/write/journal.h"

namespace patcher {
namespace {

const Manual kApplyManual = {
    "apply",
    "check, and write if no patch is refused",
    R"(All or nothing: a refusal writes nothing. A run that is killed leaves a journal, and the next
apply or revert finishes or rolls back what it began. A second apply finds nothing to do.
With --base a patch must also mean what it meant there, see check; it is placed as without.
With --commit the tree is HEAD's: each patch becomes a commit with its Subject and Why as the
message. Staged changes, and changes to a file that a patch changes, refuse. No hook runs and
nothing is signed.)",
    {"# patch the tree\npatcher apply --root src",
     "# only the first three patches\npatcher apply --root src --until 3",
     "# one commit a patch on a new branch\npatcher apply --root src --commit --branch patched",
     "# fail if there was nothing to do\npatcher apply --root src --expect-changes"}};

class Apply : public Command {
 public:
  const Manual& manual() const override { return kApplyManual; }

  void add_options(CLI::App& app) override {
    add_common(app);
    add_part(app);
    add_expect_changes(app);
    add_base(app);
    app.add_flag("--commit", commit_, "One commit a patch on the branch that is checked out");
    app.add_option("--branch", branch_,
                   "With --commit: on this new branch from HEAD; the work tree stays as it is")
        ->option_text("NAME");
  }

  std::string contradiction() const override {
    return commit_ || branch_.empty() ? "" : "--branch belongs to apply --commit";
  }

  int run_on(const Series& series, Reporter& report) override {
    std::vector<Finding> errors;
    const auto review = base_review(series, options, report, errors);
    if (!errors.empty()) return report.malformed(errors, options.base_tree());
    return commit_ ? commit(series, review.get(), report) : write(series, review.get(), report);
  }

 private:
  int write(const Series& series, Review* review, Reporter& report) {
    const auto root = std::make_shared<const TreeRoot>(options.root);
    settle_journal(*root, report);
    const Plan plan = plan_apply(series, FileMap(root), review);
    if (!plan.refused()) run_.written = static_cast<int>(write_tree(*root, plan.result).size());
    return report.plan(plan, run_);
  }

  int commit(const Series& series, Review* review, Reporter& report) {
    const auto repository = Repository::around(options.root);
    const Revision head = repository->resolve("HEAD");
    const bool on_head = branch_.empty() || is_head(*repository, branch_);
    if (on_head) settle_journal(TreeRoot(options.root), report);
    const FileMap tree(std::make_shared<RevisionTree>(repository, head));
    const Plan plan = plan_apply(series, tree, review);
    if (plan.refused()) return report.plan(plan, run_);
    const Committed done = on_head ? commit_on_head(*repository, head, plan)
                                   : commit_on_branch(*repository, head, plan, branch_);
    report.committed(done.branch, done.commits);
    run_.written = static_cast<int>(done.written);
    return report.plan(plan, run_);
  }

  bool commit_ = false;
  std::string branch_;
};

}  // namespace

std::unique_ptr<Command> apply_command() {
  return std::make_unique<Apply>();
}

}  // namespace patcher
