#include "patcher/cli/manual.h"

#include <fmt/format.h>
#include <git2.h>

#include <algorithm>

#include "patcher/base/verdict.h"

namespace patcher {
namespace {

constexpr size_t kPageWidth = 100;

// The words in lines of at most kPageWidth, each after `indent` blanks.
std::string wrapped(std::string_view text, size_t indent) {
  std::string out;
  size_t column = 0;
  while (!text.empty()) {
    const size_t end = std::min(text.find(' '), text.size());
    if (column == 0 || column + 1 + end > kPageWidth) {
      out += (out.empty() ? "" : "\n") + std::string(indent, ' ');
      column = indent;
    } else {
      out += ' ';
      ++column;
    }
    out += text.substr(0, end);
    column += end;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out + "\n";
}

std::string option_lines(const std::vector<OptionRow>& options) {
  std::string out;
  for (const OptionRow& o : options) {
    out += fmt::format("  {}{}{}\n", fmt::join(o.names, ", "), o.value.empty() ? "" : " ", o.value);
    out += wrapped(o.description, 6);
  }
  return out;
}

// A line a code.
std::string exit_code_table() {
  std::string text =
      "Exit codes (of the first refused patch):\n"
      "    0  every patch applies, was applied, or already is\n";
  text += fmt::format("  {:>3}  wrong command line\n", kExitUsage);
  text +=
      fmt::format("  {:>3}  a file, a repository or standard output cannot be read or written\n",
                  kExitEnvironment);
  text += fmt::format("  {:>3}  check --diffs: the stored diffs have drifted\n", kExitDiffsDrifted);
  for (Verdict v : kAllVerdicts) {
    if (v == Verdict::kApplies) continue;
    text += fmt::format("  {:>3}  {:<16} {}{}\n", exit_code(v), verdict_name(v), verdict_meaning(v),
                        v == Verdict::kAlreadyApplied ? " (only with --expect-changes)" : "");
  }
  return text;
}

}  // namespace

const std::vector<OptionRow>& program_options() {
  static const std::vector<OptionRow> rows = {
      {{"--apply"}, "", "The same as the verb apply"},
      {{"--revert"}, "", "The same as the verb revert"},
      {{"-h", "--help"}, "", "Print this page, or a verb's own, and leave"},
      {{"--version"}, "", "Print the pinned versions and leave"}};
  return rows;
}

const Manual& help_manual() {
  static const Manual manual = {"help",
                                "print what a verb does, its options, examples and exit codes",
                                "Without a verb: the same as --help.",
                                {"# all about apply\npatcher help apply"}};
  return manual;
}

const Manual& completion_manual() {
  static const Manual manual = {
      "completion",
      "print a completion script for bash, zsh or fish",
      R"(The script completes the verbs, the options that this version takes, their values, and files
where they are wanted.)",
      {"# bash, in ~/.bashrc\nsource <(patcher completion bash)",
       "# zsh, in ~/.zshrc\nsource <(patcher completion zsh)",
       "# fish, in ~/.config/fish/config.fish\npatcher completion fish | source"}};
  return manual;
}

const VerbRow* find_verb(const std::vector<VerbRow>& verbs, std::string_view name) {
  const auto it = std::find_if(verbs.begin(), verbs.end(),
                               [&](const VerbRow& v) { return v.manual->name == name; });
  return it == verbs.end() ? nullptr : &*it;
}

const OptionRow* find_option(const std::vector<OptionRow>& options, std::string_view name) {
  const auto it = std::find_if(options.begin(), options.end(), [&](const OptionRow& o) {
    return std::find(o.names.begin(), o.names.end(), name) != o.names.end();
  });
  return it == options.end() ? nullptr : &*it;
}

std::string overview(const std::vector<VerbRow>& verbs) {
  std::string page =
      "Carries an ordered series of source patches over a C++/CUDA tree: finds every place by "
      "syntax,\nexactly once, or refuses. Nothing is written unless the verb says so.\n\n"
      "Usage: patcher [VERB] [OPTION...]\n\nVerbs:\n";
  for (const VerbRow& verb : verbs)
    page += fmt::format("  {:<11} {}\n", verb.manual->name, verb.manual->summary);
  page += fmt::format("\nOptions of {}; `patcher help VERB` has those of the others:\n",
                      verbs.front().manual->name);
  page += option_lines(verbs.front().options);
  page += "\nOptions of the program:\n" + option_lines(program_options());
  return page + "\n" + exit_code_table();
}

std::string verb_page(const VerbRow& verb) {
  const Manual& manual = *verb.manual;
  std::string page =
      fmt::format("patcher {}: {}\n\n{}\n", manual.name, manual.summary, manual.text);
  page += fmt::format("\nUsage: patcher {}{}{}{}\n", manual.name,
                      verb.options.empty() ? "" : " [OPTION...]", verb.operands.empty() ? "" : " ",
                      verb.operands);
  if (!verb.options.empty()) page += "\nOptions:\n" + option_lines(verb.options);
  page += "\nExamples:\n";
  for (std::string_view example : manual.examples) {
    const size_t line = example.find('\n');
    page += fmt::format("  {}\n    {}\n", example.substr(0, line), example.substr(line + 1));
  }
  return page + "\n" + exit_code_table();
}

std::string version_text() {
  return fmt::format(
      "patcher {}\ntree-sitter {}\ntree-sitter-c {}\ntree-sitter-cpp {}\ntree-sitter-cuda {}\n"
      "libgit2 {}\n",
      PATCHER_VERSION, TREE_SITTER_VERSION, GRAMMAR_C_VERSION, GRAMMAR_CPP_VERSION,
      GRAMMAR_CUDA_VERSION, LIBGIT2_VERSION);
}

}  // namespace patcher
