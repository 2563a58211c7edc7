#include <CLI/CLI.hpp>
#include "patcher/base/files.h"

#include "patcher/cli/command.h"
#include "patcher/cli/trees.h"
#include "patcher/report/review_page.h"
#include "patcher/series/plan.h"

namespace patcher {
namespace {

const Manual kDiffManual = {
    "diff",
    "print each patch as a diff of the tree",
    R"(Each patch's diff is one that `git apply` takes. Give it one at a time, as --out-dir stores them:
of several at once, git leaves a file there that one of them changes and a later one renames or
deletes. The bytes do not depend on any configuration, locale or terminal. On a terminal the diff
is coloured, and the words that differ are reversed.
Patches that are applied already are shown as what they changed. If any patch is refused the
report of check is printed instead, and the exit code is its. --html writes its page either way.)",
    {"# review the whole series\npatcher diff --root src",
     "# how much does it change?\npatcher diff --root src --stat",
     "# before and after in two columns\npatcher diff --root src --side-by-side --width 200",
     "# a page to review in a browser\npatcher diff --root src --html review.html",
     "# store one diff a patch for reviewers\npatcher diff --root src --out-dir patches/diffs"}};

constexpr size_t kDefaultWidth = 160;

class Diff : public Command {
 public:
  const Manual& manual() const override { return kDiffManual; }

  void add_options(CLI::App& app) override {
    add_common(app);
    add_part(app);
    add_expect_changes(app);
    add_rev(app);
    app.add_flag("--stat", stat_, "Counts a file instead of the diff");
    app.add_flag("--side-by-side", side_by_side_, "Before and after in two columns");
    app.add_option("--width", width_, "Columns of --side-by-side; 160 if not given")
        ->check(CLI::Range(40L, 1000L))
        ->option_text("N");
    app.add_option("--html", html_, "Write a review page there, one file that needs nothing else")
        ->option_text("FILE");
    add_out_dir(app, "Write NAME.diff for each patch there");
  }

  std::string contradiction() const override {
    const int views = (stat_ ? 1 : 0) + (side_by_side_ ? 1 : 0) + (html_.empty() ? 0 : 1) +
                      (options.out_dir.empty() ? 0 : 1);
    if (views > 1) return "give one of --stat, --side-by-side, --html and --out-dir";
    if (width_ && !side_by_side_) return "--width belongs to --side-by-side";
    return {};
  }

  int run_on(const Series& series, Reporter& report) override {
    const Plan plan = plan_apply(series, dry_tree(options, report));
    if (!options.out_dir.empty()) return report.stored(plan, run_, options.out_dir);
    if (!html_.empty()) {
      write_whole(html_, review_page(plan, options.series));
      return report.plan(plan, run_);
    }
    using Kind = DiffView::Kind;
    const Kind kind = stat_ ? Kind::kStat : side_by_side_ ? Kind::kSideBySide : Kind::kUnified;
    return report.diffs(plan, run_, {kind, width_.value_or(kDefaultWidth)});
  }

 private:
  bool stat_ = false;
  bool side_by_side_ = false;
  std::optional<size_t> width_;
  std::string html_;
};

}  // namespace

std::unique_ptr<Command> diff_command() {
  return std::make_unique<Diff>();
}

}  // namespace patcher
