// completion_script: one template a shell, filled from the tables.
#include <fmt/format.h>

#include <algorithm>

#include "patcher/cli/manual.h"

namespace patcher {
namespace {

bool has_choices(const OptionRow& o) {
  return o.value.find('|') != std::string::npos;
}

std::string choices(const OptionRow& o) {
  std::string out = o.value;
  std::replace(out.begin(), out.end(), '|', ' ');
  return out;
}

std::string names(const std::vector<OptionRow>& options) {
  std::string out;
  for (const OptionRow& o : options)
    out += fmt::format("{}{}", out.empty() ? "" : " ", fmt::join(o.names, " "));
  return out;
}

std::string verb_names(const std::vector<VerbRow>& verbs) {
  std::string out;
  for (const VerbRow& verb : verbs)
    out += fmt::format("{}{}", out.empty() ? "" : " ", verb.manual->name);
  return out;
}

// An option and the verbs that take it; none for one of the program. Where verbs differ in its
// values it has all of them.
struct SharedOption {
  OptionRow row;
  std::vector<std::string_view> verbs = {};
};

std::vector<SharedOption> shared_options(const std::vector<VerbRow>& verbs) {
  std::vector<SharedOption> out;
  for (const OptionRow& row : program_options())
    out.push_back({row});
  for (const VerbRow& verb : verbs) {
    for (const OptionRow& row : verb.options) {
      auto it = std::find_if(out.begin(), out.end(),
                             [&](const SharedOption& o) { return o.row.names == row.names; });
      if (it == out.end()) it = out.insert(out.end(), {row});
      if (row.value.size() > it->row.value.size()) it->row.value = row.value;
      it->verbs.push_back(verb.manual->name);
    }
  }
  return out;
}

// It may be sourced, or lie as `_patcher` in a folder of $fpath, whose first line says what it is
// for and which runs at the first completion. bashcompinit stands on compinit, which a shell may
// not have run yet.
constexpr const char* kZshStart =
    "#compdef patcher\n"
    "(( $+functions[compdef] )) || { autoload -U compinit && compinit }\n"
    "autoload -U +X bashcompinit && bashcompinit\n";
constexpr const char* kZshEnd = "[[ ${funcstack[1]} != _patcher ]] || _bash_complete -F _patcher\n";

// --- bash (zsh runs the same functions after bashcompinit)

constexpr const char* kFiles = "_patcher_paths default -f";

std::string value_case(const OptionRow& o) {
  std::string what = "COMPREPLY=()";
  if (o.value == "FILE") what = kFiles;
  if (has_choices(o)) what = fmt::format("COMPREPLY=($(compgen -W '{}' -- \"$cur\"))", choices(o));
  if (o.value == "DIR") what = "_patcher_paths dirnames -d";
  return fmt::format("    {}) {}; return ;;\n", fmt::join(o.names, "|"), what);
}

std::string bash_script(const std::vector<VerbRow>& verbs) {
  std::string values;
  for (const SharedOption& o : shared_options(verbs)) {
    if (!o.row.value.empty()) values += value_case(o.row);
  }
  std::string of_verbs;
  for (const VerbRow& verb : verbs) {
    std::string words = names(verb.options);
    if (verb.manual->name == "help") words = verb_names(verbs);
    if (verb.manual->name == "completion") words = "bash zsh fish";
    of_verbs += fmt::format("    {}) words='{}' ;;\n", verb.manual->name, words);
  }
  return fmt::format(
      // Bash itself knows blanks in names and adds the `/` of a directory; zsh has no compopt.
      "_patcher_paths() {{\n"
      "  local IFS=$'\\n'\n"
      "  COMPREPLY=()\n"
      "  compopt -o $1 >/dev/null 2>&1 || COMPREPLY=($(compgen $2 -- \"$cur\"))\n"
      "}}\n"
      "_patcher() {{\n"
      "  local cur=${{COMP_WORDS[COMP_CWORD]}} prev=${{COMP_WORDS[COMP_CWORD-1]}} i verb='' words\n"
      // bash takes --option=value for three words.
      "  if [ \"$cur\" = = ]; then cur=''; fi\n"
      "  if [ \"$prev\" = = ]; then prev=${{COMP_WORDS[COMP_CWORD-2]}}; fi\n"
      "  case $prev in\n{0}  esac\n"
      // By index: zsh has no ${{NAME[@]:FROM:COUNT}} with a variable.
      "  for ((i = 1; i < COMP_CWORD; ++i)); do\n"
      "    case \" {1} \" in *\" ${{COMP_WORDS[i]}} \"*) verb=${{COMP_WORDS[i]}}; break ;; esac\n"
      "  done\n"
      "  case $verb in\n{2}    *) words='{1} {3}' ;;\n  esac\n"
      "  case $verb:$cur in import:-*) ;; import:*) {4}; return ;; esac\n"
      "  COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
      "}}\n"
      "complete -F _patcher patcher\n",
      values, verb_names(verbs), of_verbs,
      names(verbs.front().options) + " " + names(program_options()), kFiles);
}

// --- fish

std::string fish_quoted(std::string_view text) {
  std::string out = "'";
  for (char c : text) {
    if (c == '\'' || c == '\\') out += '\\';
    out += c;
  }
  return out + "'";
}

std::string fish_option(const SharedOption& o, const std::string& name) {
  std::string line = "complete -c patcher -l " + name.substr(2);
  if (!o.verbs.empty()) {
    line += fmt::format(" -n '__fish_seen_subcommand_from {}'", fmt::join(o.verbs, " "));
  }
  const std::string& value = o.row.value;
  if (has_choices(o.row)) {
    line += fmt::format(" -x -a '{}'", choices(o.row));
  } else if (value == "DIR") {
    line += " -x -a '(__fish_complete_directories)'";
  } else if (value == "FILE") {
    line += " -r -F";
  } else if (!value.empty()) {
    line += " -x";
  }
  return line + " -d " + fish_quoted(o.row.description) + "\n";
}

std::string fish_script(const std::vector<VerbRow>& verbs) {
  std::string out =
      "complete -c patcher -f\n"
      "complete -c patcher -n '__fish_seen_subcommand_from import' -F\n";
  for (const VerbRow& verb : verbs) {
    out += fmt::format("complete -c patcher -n __fish_use_subcommand -a {} -d {}\n",
                       verb.manual->name, fish_quoted(verb.manual->summary));
  }
  out += fmt::format("complete -c patcher -n '__fish_seen_subcommand_from help' -a '{}'\n",
                     verb_names(verbs));
  out += "complete -c patcher -n '__fish_seen_subcommand_from completion' -a 'bash zsh fish'\n";
  for (const SharedOption& o : shared_options(verbs)) {
    for (const std::string& name : o.row.names) {
      if (name.starts_with("--")) out += fish_option(o, name);
    }
  }
  return out;
}

}  // namespace

std::string completion_script(std::string_view shell, const std::vector<VerbRow>& verbs) {
  if (shell == "bash") return bash_script(verbs);
  if (shell == "zsh") return kZshStart + bash_script(verbs) + kZshEnd;
  return shell == "fish" ? fish_script(verbs) : std::string();
}

}  // namespace patcher
