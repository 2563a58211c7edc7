#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace patcher {

// What the program tells of itself: `--help`, `help VERB` and the shells' completion come from the
// verbs' manuals and from the options that their parsers really take.

struct Manual {
  std::string_view name;                   // the verb
  std::string_view summary;                // one line
  std::string_view text;                   // paragraphs
  std::vector<std::string_view> examples;  // command lines, each after what it is for: "# why"
};

struct OptionRow {
  std::vector<std::string> names = {};  // "-h", "--help"
  std::string value = {};               // "FILE", "DIR", "N", "auto|always|never"; empty for a flag
  std::string description = {};
};

struct VerbRow {
  const Manual* manual = nullptr;
  std::vector<OptionRow> options = {};
  std::string operands = {};  // "A..B"; empty if it takes none
};

// The options of the program itself, which stand before or behind any verb.
const std::vector<OptionRow>& program_options();
// The verbs that only tell something.
const Manual& help_manual();
const Manual& completion_manual();

const VerbRow* find_verb(const std::vector<VerbRow>& verbs, std::string_view name);
// The row of the option of that name; null if there is none.
const OptionRow* find_option(const std::vector<OptionRow>& options, std::string_view name);

// The page of `--help`: all verbs, the options of the first one, which is the default, and the exit
// codes.
std::string overview(const std::vector<VerbRow>& verbs);
// The page of `help VERB`.
std::string verb_page(const VerbRow& verb);
// What `--version` prints: the pinned versions.
std::string version_text();

// A completion script for "bash", "zsh" or "fish"; empty for another shell.
std::string completion_script(std::string_view shell, const std::vector<VerbRow>& verbs);

}  // namespace patcher
