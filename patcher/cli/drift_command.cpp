#include <CLI/CLI.hpp>

#include "patcher/cli/command.h"
#include "patcher/drift/drift.h"
#include "patcher/git/history.h"

namespace patcher {
namespace {

const Manual kDriftManual = {
    "drift",
    "follow upstream's commits A..B: which one breaks which patch, and why",
    R"(Judges the series at every commit after A up to B, along first parents: a branch that was
merged counts at its merge. Nothing is checked out or written. Each patch is listed with its
verdict at B, the commits at which the verdict changed and, where upstream has made the same
change, since when. The exit code is as of a check --unpatched at B.)",
    {"# what broke since the last release?\npatcher drift v1.2..main --root src",
     "# the same for a program\npatcher drift v1.2..main --root src --json"}};

class Follow : public Command {
 public:
  const Manual& manual() const override { return kDriftManual; }

  void add_options(CLI::App& app) override {
    add_common(app);
    add_part(app);
    app.add_option("range", ranges_, "The commits after A, up to B")->option_text("A..B");
  }

  std::string contradiction() const override {
    return ranges_.size() == 1 ? "" : "drift needs a range of commits: A..B";
  }

  int run_on(const Series& series, Reporter& report) override {
    for (const Patch& patch : series.patches) {
      if (!patch.usable()) return report.malformed(patch.errors);
    }
    const auto repository = Repository::around(options.root);
    History history = first_parent_history(*repository, ranges_.front());
    const auto progress = [&](size_t done, size_t total) {
      report.progress(done, total, "versions");
    };
    return report.drift(follow_drift(repository, series, std::move(history), progress));
  }

 private:
  std::vector<std::string> ranges_;
};

}  // namespace

std::unique_ptr<Command> drift_command() {
  return std::make_unique<Follow>();
}

}  // namespace patcher
