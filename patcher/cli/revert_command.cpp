#include "patcher/cli/option_groups.h"
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
    add_common_options(app, common);
    add_part_options(app, part_);
    add_expect_changes(app, run_.expect_changes);
  }

  int run(Reporter& report) override {
    const Series series = load_series(common, part_);
    if (!series.errors.empty()) return report.malformed(series.errors);
    const auto root = std::make_shared<const TreeRoot>(common.root);
    settle_journal(*root, report);
    const FileMap on_disk(root);
    if (part_.until) {
      const Series all = load_series(common, {std::nullopt, part_.allow_empty});
      const std::vector<Finding> above = applied_above(all, *part_.until, on_disk);
      if (!above.empty()) return report.malformed(above);
    }
    const Plan plan = plan_revert(series, on_disk);
    if (!plan.refused()) run_.written = static_cast<int>(write_tree(*root, plan.result).size());
    return report.plan(plan, run_);
  }

 private:
  PartOptions part_;
  PlanRun run_;
};

}  // namespace

std::unique_ptr<Command> revert_command() {
  return std::make_unique<Revert>();
}

}  // namespace patcher
