#include <CLI/CLI.hpp>
#include "patcher/carry/carry_series.h"

#include "patcher/cli/command.h"
#include "patcher/cli/trees.h"

namespace patcher {
namespace {

const Manual kCarryManual = {
    "carry",
    "move a series from the tree that it was made for to another version of it",
    R"(Writes the series for --root (its files, or its --rev) into --out-dir and says of each patch
what became of it: unchanged; re-anchored, the same change found by the tokens around it and written
with new anchors; obsolete, left out because the tree has the change; or that it needs a person, and
why. Refused is also an added line that uses a name which is gone from the tree, or a local that the
function does not have there, or calls a function whose parameters changed; and a removed definition
that is still used. A diff or mail has its places in --base by its line numbers; if they are stale,
where its lines are, if that is one place. What needs a person is written as it was, with a remark
in the series, and the exit code says so: mend it there, and check the new series.
A changed function or type that is not in its file any more is looked for in all C, C++ and CUDA
files by its name and parameters. If one file has it, --follow-moves takes what changes in it
there; without, the refusal says where it is. Lines outside of definitions go along only if all
of the file's change goes to one file.)",
    {"# the series for v1, made to fit v2\n"
     "patcher carry --base v1 --root v2 --series patches/series --out-dir patches-v2",
     "# the same for upstream's newest commit, not checked out\n"
     "patcher carry --base v1 --root v2 --rev origin/main --out-dir patches-v2",
     "# both from one repository, nothing checked out\n"
     "patcher carry --root src --base-rev v1 --rev v2 --out-dir patches-v2",
     "# code has moved between files since\n"
     "patcher carry --base v1 --root v2 --out-dir patches-v2 --follow-moves"}};

class Carry : public Command {
 public:
  const Manual& manual() const override { return kCarryManual; }

  void add_options(CLI::App& app) override {
    add_common(app);
    add_base(app);
    add_follow_moves(app);
    add_rev(app);
    add_out_dir(app, "Write the patches there");
  }

  std::string contradiction() const override {
    if (!options.has_base()) {
      return "carry needs --base DIR or --base-rev REV, the tree that the series is for";
    }
    return options.out_dir.empty() ? "carry needs --out-dir DIR, where to write the patches" : "";
  }

  int run_on(const Series& series, Reporter& report) override {
    const FileMap base =
        open_tree(options.base_tree(), options.base_rev, report, &Reporter::based_on);
    const FileMap onto = open_tree(options.root, options.rev, report, &Reporter::judged);
    std::vector<Finding> errors;
    const auto carried = carry_series(series, base, onto, move_rule(options), errors);
    if (!errors.empty()) return report.malformed(errors);
    write_import(carried_import(carried), options.out_dir);
    return report.carried(carried, options.out_dir);
  }

 private:
};

}  // namespace

std::unique_ptr<Command> carry_command() {
  return std::make_unique<Carry>();
}

}  // namespace patcher
