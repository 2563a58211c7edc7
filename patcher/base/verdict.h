#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace patcher {

// What the patcher says about one patch. The list is closed: its names are the JSON values, and
// each has its own exit code (see exit_code).
enum class Verdict {
  kApplies,         // every hunk has exactly one place and the result was computed
  kAlreadyApplied,  // every hunk's result is there, and undoing it and doing it again gives the
                    // same
  kObsolete,        // the change is there although an earlier patch is not: upstream has it
  kMissing,         // the scope or the anchor is not there, or not as the patch says
  kAmbiguous,       // the scope or the anchor is there more than once
  kDamagedParse,    // the place, or the result, does not parse
  kFileMissing,     // the file to change is not in the tree
  kOverlaps,        // two hunks of the patch change the same bytes, or two paths are one file
  kNoEffect,        // the patch changes nothing
  kMalformed,       // the patch file itself is wrong
  kUnsafePath,      // a path leaves the tree or goes through a link
  kOutdated,        // partly in place, or another version of what it installs is there
};

inline constexpr std::array kAllVerdicts = {
    Verdict::kApplies,   Verdict::kAlreadyApplied, Verdict::kObsolete,    Verdict::kMissing,
    Verdict::kAmbiguous, Verdict::kDamagedParse,   Verdict::kFileMissing, Verdict::kOverlaps,
    Verdict::kNoEffect,  Verdict::kMalformed,      Verdict::kUnsafePath,  Verdict::kOutdated,
};

// Exit codes that are no patch's verdict.
inline constexpr int kExitUsage = 2;
inline constexpr int kExitEnvironment = 3;
inline constexpr int kExitDiffsDrifted = 4;

// "applies", "already_applied", ... as in JSON.
std::string_view verdict_name(Verdict v);
// One line that says what the verdict means; the help's table.
std::string_view verdict_meaning(Verdict v);
// 0 for applies, else 10 and up. A run exits with the code of the first refused patch; a series
// that is already applied exits 0 (or with already_applied's code where changes were expected).
int exit_code(Verdict v);
// False for applies and already_applied: the patch makes the whole run refuse.
bool is_refusal(Verdict v);

// A place in a file, for people: both from 1; line 0 when there is no place to name.
struct Place {
  std::string file = {};
  int line = 0;
  int column = 0;
};

// The beginning of a file's line.
Place at_line(std::string file, int line = 1);

// "file:line", or the file alone.
std::string shown(const Place& place);

struct Candidate {
  Place place = {};
  std::string scope = {};  // the enclosing function or class, as one writes it in a hunk header
  std::string conditional = {};  // the enclosing #if states, outermost first; empty outside of any
  std::string text = {};         // the first line of the place
};

// "in SCOPE [CONDITIONAL]: TEXT".
std::string shown(const Candidate& candidate);

// One thing to tell about a patch: an error (of a refusal) or a note.
struct Finding {
  Verdict verdict = Verdict::kApplies;
  Place place = {};   // where in the tree
  Place origin = {};  // where in the patch
  std::string message = {};
  std::vector<std::string> hints = {};
  std::vector<Candidate> candidates = {};

  // How findings are made: what is wrong, at `origin` in the patch, the series or an old base, and
  // at `place` in the tree. Either may be none.
  static Finding of(Verdict verdict, Place origin, std::string message, Place place = {});
};

}  // namespace patcher
