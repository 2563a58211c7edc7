#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace patcher {

// What the program tells of itself: `--help`, `help VERB` and the shells' completion all come from
// the table of verbs in manual.cpp and from the options that the command line really takes.

struct OptionRow {
  std::vector<std::string> names = {};  // "--color", "--json"
  std::string value = {};               // "FILE", "DIR", "N", "auto|always|never"; empty for a flag
  std::string description = {};
  std::vector<std::string> verbs = {};  // those that take it; empty: all

  bool belongs_to(std::string_view verb) const;
};

struct VerbRow {
  std::string_view name;
  std::string_view summary;                // one line
  std::string_view text;                   // paragraphs
  std::vector<std::string_view> examples;  // command lines, each after what it is for: "# why"
};

const std::vector<VerbRow>& all_verbs();
const VerbRow* find_verb(std::string_view name);

// "Exit codes ...": a line a code.
std::string exit_code_table();
// The list of verbs for --help.
std::string verb_table();
// The page of `help VERB`.
std::string verb_page(const VerbRow& verb, const std::vector<OptionRow>& options);

// A completion script for "bash", "zsh" or "fish"; empty for another shell.
std::string completion_script(std::string_view shell, const std::vector<OptionRow>& options);

}  // namespace patcher
