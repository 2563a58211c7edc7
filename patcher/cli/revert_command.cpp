#include <CLI/CLI.hpp>

#include "patcher/cli/command.h"
#include "patcher/cli/trees.h"
#include "patcher/series/plan.h"
#include "patcher/write/journal.h"

namespace patcher {
namespace {

const Manual kRevertManual = {
    "revert",
    "take the applied patches off, last first",
    R"(All or nothing, as apply. What else was changed in the tree since stays. A second revert finds
nothing to do.)",
    {"# take everything off\npatcher revert --root src",
     "# and tell a program about it\npatcher revert --root src --json"}};

class Revert : public Command {
 public:
  const Manual& manual() const override { return kRevertManual; }

  void add_options(CLI::App& app) override {
    add_common(app);
    add_part(app);
    add_expect_changes(app);
  }

  int run_on(const Series& series, Reporter& report) override {
    const auto root = std::make_shared<const TreeRoot>(options.root);
    settle_journal(*root, report);
    const FileMap on_disk(root);
    if (options.until) {
      const Series all = load_series(options.series, {}, options.allow_empty);
      const std::vector<Finding> above = applied_above(all, *options.until, on_disk);
      if (!above.empty()) return report.malformed(above);
    }
    const Plan plan = plan_revert(series, on_disk);
    if (!plan.refused()) run_.written = static_cast<int>(write_tree(*root, plan.result).size());
    return report.plan(plan, run_);
  }

 private:
};

}  // namespace

std::unique_ptr<Command> revert_command() {
  return std::make_unique<Revert>();
}

}  // namespace patcher
