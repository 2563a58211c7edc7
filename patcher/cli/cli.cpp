#include "patcher/cli/cli.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "patcher/base/error.h"
#include "patcher/base/whole_file.h"
#include "patcher/carry/base_review.h"
#include "patcher/cli/options.h"
#include "patcher/cli/run_report.h"
#include "patcher/git/repository.h"
#include "patcher/git/revision_tree.h"
#include "patcher/import/import_commits.h"
#include "patcher/import/import_series.h"
#include "patcher/report/carry_report.h"
#include "patcher/report/diff.h"
#include "patcher/report/diff_view.h"
#include "patcher/report/drift_report.h"
#include "patcher/report/report.h"
#include "patcher/report/review_page.h"
#include "patcher/report/stored_diffs.h"
#include "patcher/series/plan.h"
#include "patcher/write/commit_series.h"
#include "patcher/write/journal.h"

namespace patcher {
namespace {

class Program {
 public:
  Program(const Options& options, std::ostream& out, std::ostream& err, const Terminal& terminal)
      : options_(options),
        out_(out),
        err_(err),
        progress_(terminal.out_is_terminal),
        style_{.color =
                   options.color == "always" ||
                   (options.color == "auto" && terminal.out_is_terminal && !terminal.no_color)},
        report_(options, style_, out, err) {}

  int run() {
    if (options_.verb == Verb::kImport) return import();
    const Series series = load_series(options_.series, options_.until, options_.allow_empty);
    if (!series.errors.empty()) return report_.malformed(series.errors);
    if (options_.verb == Verb::kDrift) return drift(series);
    if (options_.verb == Verb::kCarry) return carry(series);
    if (const auto code = know_base(series)) return *code;
    if (!options_.rev.empty()) return judge_revision(series);
    if (options_.commit) return commit(series);
    const auto root = std::make_shared<const TreeRoot>(options_.root);
    settle_journal(*root);
    const FileMap on_disk(root);
    if (const auto code = leaves_no_hole(on_disk)) return *code;
    const Plan plan =
        options_.verb == Verb::kRevert ? plan_revert(series, on_disk) : applied(series, on_disk);
    if (options_.verb == Verb::kDiff) return show_diff(plan);
    const bool writes = options_.verb == Verb::kApply || options_.verb == Verb::kRevert;
    int written = -1;
    if (writes && !plan.refused()) {
      written = static_cast<int>(write_tree(*root, plan.result).size());
    }
    return report_.plan(plan, written);
  }

 private:
  SeriesImport imported() {
    if (!imports_commits(options_)) return import_files(options_.files, base_tree());
    return import_commits(*Repository::around(options_.base), options_.files.front());
  }

  int import() {
    const SeriesImport made = imported();
    if (!made.errors.empty()) return report_.malformed(made.errors);
    write_import(made, options_.out_dir);
    if (options_.json) {
      nlohmann::json names = nlohmann::json::array();
      for (const auto& item : made.patches)
        names.push_back(item.name);
      nlohmann::json j = {{"verb", "import"}, {"exit_code", 0}, {"patches", names}};
      report_.add_revisions(j);
      report_.json(j);
    } else {
      report_.print_revisions();
      out_ << fmt::format("{} patches in {}\n", made.patches.size(), options_.out_dir);
    }
    return 0;
  }

  int carry(const Series& series) {
    const FileMap base = base_tree();
    const FileMap onto = options_.rev.empty()
                             ? FileMap(std::make_shared<const TreeRoot>(options_.root))
                             : revision_tree();
    std::vector<Finding> errors;
    const auto carried = carry_series(series, base, onto, move_rule(), errors);
    if (!errors.empty()) return report_.malformed(errors);
    const int code = carry_exit_code(carried);
    write_import(carried_import(carried), options_.out_dir);
    if (options_.json) {
      nlohmann::json j = carry_json(carried);
      report_.add_revisions(j);
      report_.json(j);
    } else {
      report_.print_revisions();
      report_carry(out_, err_, carried, options_.out_dir, style_);
    }
    return code;
  }

  // check and apply with --base. The exit code when the series is not that base's; a patch that is
  // wrong in itself is the plan's to report.
  std::optional<int> know_base(const Series& series) {
    if (options_.base.empty()) return std::nullopt;
    const FileMap base = base_tree();
    const auto& patches = series.patches;
    if (!std::all_of(patches.begin(), patches.end(), [](const auto& p) { return p.usable(); })) {
      return std::nullopt;
    }
    std::vector<Finding> errors;
    std::vector<BaseStep> steps = base_steps(series, base, errors);
    if (!errors.empty()) return report_.malformed(errors, options_.base);
    review_ = std::make_unique<BaseReview>(std::move(steps), carry_command(options_), move_rule());
    return std::nullopt;
  }

  Plan applied(const Series& series, const FileMap& tree) const {
    return plan_apply(series, tree, review_.get(),
                      options_.unpatched ? InTree::kUpstream : InTree::kAnybody);
  }

  // revert --until N, while patches after the N-th are applied: the exit code of the refusal.
  std::optional<int> leaves_no_hole(const FileMap& on_disk) {
    if (options_.verb != Verb::kRevert || !options_.until) return std::nullopt;
    const Series all = load_series(options_.series, std::nullopt, options_.allow_empty);
    const std::vector<Finding> above = applied_above(all, *options_.until, on_disk);
    if (above.empty()) return std::nullopt;
    return report_.malformed(above);
  }

  MoveRule move_rule() const {
    return options_.follow_moves ? MoveRule::kFollow : MoveRule::kRefuse;
  }

  // What --rev names.
  FileMap revision_tree() { return tree_at(options_.root, options_.rev, &RunReport::judged); }

  // What --base and --base-rev name.
  FileMap base_tree() {
    if (options_.base_rev.empty()) return FileMap(std::make_shared<const TreeRoot>(options_.base));
    return tree_at(options_.base, options_.base_rev, &RunReport::based_on);
  }

  FileMap tree_at(const std::string& directory, const std::string& rev,
                  void (RunReport::*tell)(Revision)) {
    const auto repository = Repository::around(directory);
    const Revision revision = repository->resolve(rev);
    (report_.*tell)(revision);
    return FileMap(std::make_shared<RevisionTree>(repository, revision));
  }

  // check and diff of a tree that nobody checked out.
  int judge_revision(const Series& series) {
    const Plan plan = applied(series, revision_tree());
    if (options_.verb == Verb::kDiff) return show_diff(plan);
    return report_.plan(plan, -1);
  }

  int commit(const Series& series) {
    const auto repository = Repository::around(options_.root);
    const Revision base = repository->resolve("HEAD");
    const bool on_head = options_.branch.empty() || is_head(*repository, options_.branch);
    if (on_head) settle_journal(TreeRoot(options_.root));
    const FileMap tree(std::make_shared<RevisionTree>(repository, base));
    const Plan plan = plan_apply(series, tree, review_.get());
    if (plan.refused()) return report_.plan(plan, -1);
    const Committed done = on_head ? commit_on_head(*repository, base, plan)
                                   : commit_on_branch(*repository, base, plan, options_.branch);
    report_.committed(done);
    return report_.plan(plan, static_cast<int>(done.written));
  }

  int drift(const Series& series) {
    for (const Patch& patch : series.patches) {
      if (!patch.usable()) return report_.malformed(patch.errors);
    }
    const auto repository = Repository::around(options_.root);
    History history = first_parent_history(*repository, options_.range);
    DriftProgress progress;
    if (progress_ && !options_.json) {
      progress = [&](size_t done, size_t total) {
        err_ << fmt::format("\r{}/{} versions\033[K{}", done, total,
                            done == total ? "\r\033[K" : "");
        err_.flush();
      };
    }
    const Drift drift = follow_drift(repository, series, std::move(history), progress);
    if (options_.json) {
      report_.json(drift_json(drift));
    } else {
      report_drift(out_, err_, drift, style_);
    }
    return exit_code(drift.verdict());
  }

  // A dry run writes nothing, not even what a killed run left to finish.
  void settle_journal(const TreeRoot& root) {
    if (options_.verb == Verb::kCheck || options_.verb == Verb::kDiff) {
      if (!has_journal(root)) return;
      throw BrokenEnvironment(fmt::format(
          "{}/{}: a run was cut off; `patcher apply` or `revert` finishes or rolls it back first",
          root.directory(), kJournalName));
    }
    const Recovery done = recover(root);
    if (done == Recovery::kNothing) return;
    err_ << "note: a run that was cut off was "
         << (done == Recovery::kFinished ? "finished" : "rolled back") << "\n";
  }

  int show_diff(const Plan& plan) {
    if (!options_.html.empty()) return write_page(plan);
    if (plan.refused()) return report_.plan(plan, -1);
    if (!options_.out_dir.empty()) {
      store_diffs(plan, options_.out_dir);
      if (!options_.json)
        out_ << fmt::format("{} diffs in {}\n", plan.patches.size(), options_.out_dir);
    }
    if (options_.json) return report_.plan(plan, -1);
    if (!options_.out_dir.empty()) return 0;
    for (const PatchPlan& p : plan.patches) {
      out_ << fmt::format("# {}: {}\n", p.patch->name, p.patch->subject);
      out_ << shown(p);
    }
    return 0;
  }

  int write_page(const Plan& plan) {
    write_whole(options_.html, review_page(plan, options_.series));
    return report_.plan(plan, -1);
  }

  std::string shown(const PatchPlan& p) const {
    if (options_.stat) return patch_stat(p);
    if (options_.side_by_side) {
      return side_by_side(p, options_.width != 0 ? options_.width : kDefaultWidth, style_.color);
    }
    return style_.color ? colored_diff(p) : patch_diff(p);
  }

  const Options& options_;
  std::ostream& out_;
  std::ostream& err_;
  bool progress_;  // somebody watches
  ReportStyle style_;
  RunReport report_;
  std::unique_ptr<BaseReview> review_;  // --base
};

int run_checked(std::span<const char* const> args, std::ostream& out, std::ostream& err,
                const Terminal& terminal) {
  Options options;
  try {
    if (const auto code = parse_options(args, options, out, err)) return *code;
    return Program(options, out, err, terminal).run();
  } catch (const BrokenEnvironment& e) {
    return RunReport(options, {}, out, err).broken(e.what());
  }
}

}  // namespace

int run_cli(std::span<const char* const> args, std::ostream& out, std::ostream& err,
            const Terminal& terminal) {
  const int code = run_checked(args, out, err, terminal);
  // Whoever reads the output has to know that some of it is missing.
  if (out.flush()) return code;
  err << "patcher: standard output: cannot be written\n";
  return kExitEnvironment;
}

}  // namespace patcher
