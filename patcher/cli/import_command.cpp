#include <fmt/format.h>

#include <filesystem>

#include <CLI/CLI.hpp>
#include "patcher/base/error.h"

#include "patcher/cli/command.h"
#include "patcher/cli/trees.h"
#include "patcher/import/import_commits.h"
#include "patcher/import/import_series.h"

namespace patcher {
namespace {

const Manual kImportManual = {
    "import",
    "turn commits, diffs and patch mails into anchored patches",
    R"(Does each FILE to the base, where it must fit at the lines that it names, and writes a patch
with the smallest anchor that is there once in its scope. Each patch is proven: on the base it
makes exactly the diff's change. What no anchors make so (a change of blanks alone, say) is kept as
a diff, with a remark in the series; if that cannot be proven either, nothing is written. The same
input gives the same bytes; a file that is there and differs is never overwritten.
Of an mbox each mail is a patch, numbered and named by its subject. Refused by name is what a diff
leaves out (binary files, "Only in") or cannot mean here (two names, copies, links), and a mail
whose message holds a diff with no line of three dashes behind it.
One REV or A..B in place of files takes the change of a commit, or of each commit along B's first
parents that A does not have, from the repository that --base, or else --root, lies in; a merge is
what it brought.)",
    {"# a mail series onto the tree that it was made from\n"
     "patcher import --base src --out-dir patches 0001-*.patch 0002-*.patch",
     "# onto a revision of it\n"
     "patcher import --base src --base-rev v1 --out-dir patches 0001-*.patch",
     "# the commits of a branch\npatcher import main..mine --root src --out-dir patches"}};

// Whether the operands are a commit or a range in place of files: one word that is no file and has
// no file's name. Throws BrokenEnvironment when nobody can say whether there is such a file.
bool name_commits(const std::vector<std::string>& operands) {
  namespace fs = std::filesystem;
  if (operands.size() != 1) return false;
  const fs::path only = operands.front();
  for (const char* extension : {".patch", ".diff", ".mbox", ".eml"}) {
    if (only.extension() == extension) return false;
  }
  std::error_code error;
  const auto type = fs::status(only, error).type();
  if (type == fs::file_type::not_found || error == std::errc::filename_too_long) return true;
  if (error) throw BrokenEnvironment(fmt::format("{}: {}", operands.front(), error.message()));
  return false;
}

class Import : public Command {
 public:
  const Manual& manual() const override { return kImportManual; }

  void add_options(CLI::App& app) override {
    // A wrapper may give it before every verb.
    add_common(app)->group("");
    add_base(app);
    add_out_dir(app, "Write the patches there");
    app.add_option(
           "operands", operands_,
           "Diffs and patch mails, in order; or a commit, or those that B has and A has not")
        ->option_text("FILE... | REV | A..B");
  }

  std::string contradiction() const override {
    if (operands_.empty()) return "import needs the diffs and mails to read, a commit or A..B";
    if (options.out_dir.empty()) return "import needs --out-dir DIR, where to write the patches";
    if (!options.base_rev.empty() && name_commits(operands_)) {
      return "--base-rev is for files: a commit is taken from its own parent";
    }
    return {};
  }

  int run(Reporter& report) override {
    const SeriesImport made = imported(report);
    if (!made.errors.empty()) return report.malformed(made.errors);
    write_import(made, options.out_dir);
    std::vector<std::string> names;
    for (const auto& item : made.patches)
      names.push_back(item.name);
    report.imported(names, options.out_dir);
    return 0;
  }

 private:
  SeriesImport imported(Reporter& report) const {
    const std::string& tree = options.base_tree();
    if (name_commits(operands_)) {
      return import_commits(*Repository::around(tree), operands_.front());
    }
    return import_files(operands_, open_tree(tree, options.base_rev, report, &Reporter::based_on));
  }

  std::vector<std::string> operands_;
};

}  // namespace

std::unique_ptr<Command> import_command() {
  return std::make_unique<Import>();
}

}  // namespace patcher
