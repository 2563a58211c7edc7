#pragma once

#include <optional>
#include <ostream>
#include <span>
#include <string>
#include <vector>

#include "patcher/report/report.h"

namespace patcher {

// The command line, checked.
struct Options {
  Verb verb = Verb::kCheck;
  std::string root = ".";
  std::string series = "patches/series";
  std::string rev;    // check, diff, carry: judge this revision instead of the files in `root`
  std::string range;  // drift: A..B
  std::vector<std::string> files;  // import: diffs and mails, in order
  std::string base;  // the tree that the patches were made from; check, apply: empty if not known
  std::string base_rev;       // that revision of it, instead of its files
  bool follow_moves = false;  // carry, check --base: to the file that has the definition now
  bool commit = false;        // apply: one commit a patch
  std::string branch;         // apply --commit: on this new branch
  std::optional<size_t> until;
  std::string format = "text";  // text, json, github, sarif
  bool json = false;            // format is json
  bool stat = false;
  bool side_by_side = false;
  size_t width = 0;  // 0: the default of side_by_side
  bool allow_empty = false;
  bool expect_changes = false;
  bool unpatched = false;  // check: what is in the tree is upstream's
  std::string color = "auto";
  std::string out_dir;  // diff: write there
  std::string html;     // diff: write a review page there
  std::string diffs;    // check: compare with
};

// Whether import is given a commit or a range in place of files: one word that is no file and has
// no file's name. Throws BrokenEnvironment when nobody can say whether there is such a file.
bool imports_commits(const Options& options);

// The call of carry for the tree and the series of a check or apply with --base.
std::string carry_command(const Options& options);

// Prints help, version or a usage error and gives the exit code to leave with, or fills `options`,
// of which `verb`, `format` and `json` hold too when it throws BrokenEnvironment.
std::optional<int> parse_options(std::span<const char* const> args, Options& options,
                                 std::ostream& out, std::ostream& err);

}  // namespace patcher
