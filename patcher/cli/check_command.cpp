#include <CLI/CLI.hpp>

#include "patcher/cli/command.h"
#include "patcher/cli/trees.h"
#include "patcher/series/plan.h"

namespace patcher {
namespace {

const Manual kCheckManual = {
    "check",
    "dry run: judge every patch on the tree, write nothing (the default)",
    R"(Prints one line a patch with its verdict, then what is wrong, with file:line and the nearest
candidate, and what is worth to note. Patch k is judged on the result of patches 1 to k-1;
all refusals are reported in one run. A patch that is in the tree counts as applied; where nobody
has applied any, as in upstream's tree, --unpatched makes it obsolete. With --diffs, says too where
a patch still applies but gives another diff than the one stored, because its surroundings changed.
With --base or --base-rev, the tree that the series was made for, refuses too a patch that applies
but adds a line that uses a name which is gone since, or calls a function whose parameters changed;
one that removes what is still used; one whose place, or whose result where it seems applied, is in
another part than the base has it, or may be; and one that adds a function, a type or a statement
that the tree has added as well. Of a patch without a place it says where carry would place it.
In a place that does not parse, tokens and lines decide, with a note: where the anchor is there
once in the whole file it applies. An edit after which text that was readable is not is refused,
damaged_parse, and noted where a diff's lines are all there as it has them. Macros with names in
capitals that stand for attributes, parts of strings or statements are read as the preprocessor
would read them; a statement that an #if cuts through is as good as damaged, and what is around it
is not.)",
    {"# would the series apply to src?\npatcher check --root src --series patches/series",
     "# annotations on a pull request\npatcher check --root src --format github",
     ("# every night in CI, against upstream's newest\n"
      "patcher check --root src --rev origin/main --unpatched --format github"),
     "# for a code scanning service\npatcher check --root src --format sarif",
     "# does each patch still mean what it meant on v1?\npatcher check --base v1 --root v2",
     "# the same, both from one repository\npatcher check --root src --base-rev v1 --rev v2",
     "# have the stored diffs drifted?\npatcher check --diffs patches/diffs"}};

class Check : public Command {
 public:
  const Manual& manual() const override { return kCheckManual; }

  void add_options(CLI::App& app) override {
    add_common(app, {"text", "json", "github", "sarif"});
    add_part(app);
    add_expect_changes(app);
    add_rev(app);
    add_base(app);
    add_follow_moves(app);
    app.add_flag("--unpatched", unpatched_,
                 "Nobody has applied the series here: a patch that is in the tree is obsolete");
    app.add_option("--diffs", run_.diffs, "Compare with the diffs stored there")
        ->option_text("DIR");
  }

  std::string contradiction() const override {
    if (options.follow_moves && !options.has_base())
      return "--follow-moves belongs to check --base";
    return {};
  }

  int run_on(const Series& series, Reporter& report) override {
    std::vector<Finding> errors;
    const auto review = base_review(series, options, report, errors);
    if (!errors.empty()) return report.malformed(errors, options.base_tree());
    const FileMap tree = dry_tree(options, report);
    return report.plan(
        plan_apply(series, tree, review.get(), unpatched_ ? InTree::kUpstream : InTree::kAnybody),
        run_);
  }

 private:
  bool unpatched_ = false;
};

}  // namespace

std::unique_ptr<Command> check_command() {
  return std::make_unique<Check>();
}

}  // namespace patcher
