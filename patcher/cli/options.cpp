#include "patcher/cli/options.h"

#include <fmt/format.h>
#include <git2.h>
#include <tree_sitter/api.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <map>

#include "patcher/base/error.h"
#include "patcher/cli/command_words.h"
#include "patcher/cli/manual.h"

namespace patcher {
namespace {

constexpr const char* kDescription =
    "Carries an ordered series of source patches over a C++/CUDA tree: finds every place by "
    "syntax, "
    "exactly once, or refuses. Nothing is written unless the verb says so.";

const std::map<std::string, Verb> kVerbs = {{"check", Verb::kCheck}, {"diff", Verb::kDiff},
                                            {"apply", Verb::kApply}, {"revert", Verb::kRevert},
                                            {"drift", Verb::kDrift}, {"import", Verb::kImport},
                                            {"carry", Verb::kCarry}};

std::string version() {
  return fmt::format(
      "patcher {}\ntree-sitter {}\ntree-sitter-c {}\ntree-sitter-cpp {}\ntree-sitter-cuda {}\n"
      "libgit2 {}\n",
      PATCHER_VERSION, TREE_SITTER_VERSION, GRAMMAR_C_VERSION, GRAMMAR_CPP_VERSION,
      GRAMMAR_CUDA_VERSION, LIBGIT2_VERSION);
}

struct Aliases {
  std::string verb;
  std::vector<std::string> operands;
  bool apply = false;
  bool revert = false;
  bool json = false;
  long until = -1;
  long width = -1;
};

void add_diff_options(CLI::App& app, Options& o, Aliases& a) {
  const std::string group = "Options of diff";
  app.add_flag("--stat", o.stat, "Counts a file instead of the diff")->group(group);
  app.add_flag("--side-by-side", o.side_by_side, "Before and after in two columns")->group(group);
  app.add_option("--width", a.width, "Columns of --side-by-side; 160 if not given")
      ->check(CLI::Range(40L, 1000L))
      ->group(group)
      ->option_text("N");
  app.add_option("--html", o.html, "Write a review page there, one file that needs nothing else")
      ->group(group)
      ->option_text("FILE");
  app.add_option("--out-dir", o.out_dir,
                 "diff: write NAME.diff for each patch there; import and carry: the patches")
      ->group("Options of diff, import, carry")
      ->option_text("DIR");
}

void add_commit_options(CLI::App& app, Options& o) {
  const std::string group = "Options of apply";
  app.add_flag("--commit", o.commit, "One commit a patch on the branch that is checked out")
      ->group(group);
  app.add_option("--branch", o.branch,
                 "With --commit: on this new branch from HEAD; the work tree stays as it is")
      ->group(group)
      ->option_text("NAME");
}

void add_options(CLI::App& app, Options& o, Aliases& a) {
  app.add_option("verb", a.verb, "check, diff, apply, revert, drift, import or carry; see Verbs")
      ->check(CLI::IsMember({"check", "diff", "apply", "revert", "drift", "import", "carry"}))
      ->option_text("[check|diff|apply|revert|drift|import|carry]");
  app.add_option(
         "operands", a.operands,
         "drift: the commits after A, up to B; import: the commits that B has and A has not, a "
         "commit REV, or diffs and patch mails, in order")
      ->option_text("[A..B | REV | FILE...]");
  app.add_option(
         "--base", o.base,
         "The tree that the patches were made from; for import by default --root's. With it "
         "check and apply refuse what does not mean on --root what it meant there")
      ->group("Options of check, apply, import, carry")
      ->option_text("DIR");
  app.add_option("--base-rev", o.base_rev,
                 "Take this git revision of --base, or REV:DIRECTORY, without a checkout; without "
                 "--base, of --root")
      ->group("Options of check, apply, import, carry")
      ->option_text("REV");
  app.add_flag("--follow-moves", o.follow_moves,
               "Carry a change whose function or type is in another file now to that file; check "
               "with --base says what would come of it")
      ->group("Options of check, carry");
  app.add_option("--root", o.root, "The tree to patch; by default the working directory")
      ->capture_default_str()
      ->option_text("DIR");
  app.add_option("--series", o.series,
                 "The list of patches, which lie beside it; by default patches/series")
      ->group("Options of check, diff, apply, revert, drift, carry")
      ->option_text("FILE");
  app.add_option("--rev", o.rev,
                 "Judge this git revision of the tree, or REV:DIRECTORY, without a checkout")
      ->group("Options of check, diff, carry")
      ->option_text("REV");
  app.add_option("--until", a.until, "Only the first N patches of the series")
      ->check(CLI::Range(0L, 1000000L))
      ->group("Options of check, diff, apply, revert, drift")
      ->option_text("N");
  app.add_flag("--apply", a.apply, "The same as the verb apply")->group("Options of apply");
  app.add_flag("--revert", a.revert, "The same as the verb revert")->group("Options of revert");
  app.add_option("--format", o.format,
                 "How to report, by default as text; github and sarif are for check")
      ->check(CLI::IsMember({"text", "json", "github", "sarif"}))
      ->option_text("text|json|github|sarif");
  app.add_flag("--json", a.json,
               "The same as --format json; a run without a verdict gives an object with \"error\"");
  app.add_option("--color", o.color, "By default auto: on a terminal, and without NO_COLOR")
      ->check(CLI::IsMember({"auto", "always", "never"}))
      ->option_text("auto|always|never");
  app.add_flag("--allow-empty-series", o.allow_empty, "A series without patches is no error")
      ->group("Options of check, diff, apply, revert, drift");
  app.add_flag("--expect-changes", o.expect_changes,
               "Exit with already_applied's code when there is nothing to do")
      ->group("Options of check, diff, apply, revert");
  app.add_flag("--unpatched", o.unpatched,
               "Nobody has applied the series here: a patch that is in the tree is obsolete")
      ->group("Options of check");
  app.add_option("--diffs", o.diffs, "Compare with the diffs stored there")
      ->group("Options of check")
      ->option_text("DIR");
  add_commit_options(app, o);
  add_diff_options(app, o, a);
  app.set_version_flag("--version", version(), "Print the pinned versions and leave");
}

std::string import_contradiction(const Options& o, const Aliases& a) {
  const bool carry = o.verb == Verb::kCarry;
  if (!carry && a.operands.empty())
    return "import needs the diffs and mails to read, a commit or A..B";
  if (carry && o.base.empty() && o.base_rev.empty()) {
    return "carry needs --base DIR or --base-rev REV, the tree that the series is for";
  }
  if (carry && !a.operands.empty()) return "carry takes a series, by --series, and no files";
  if (o.out_dir.empty()) {
    return carry ? "carry needs --out-dir DIR, where to write the patches"
                 : "import needs --out-dir DIR, where to write the patches";
  }
  const bool others = o.stat || o.side_by_side || !o.html.empty() || a.width >= 0 || a.until >= 0 ||
                      (!carry && !o.rev.empty()) || !o.diffs.empty() || o.allow_empty ||
                      o.expect_changes || o.unpatched || o.commit || !o.branch.empty();
  if (others)
    return "import and carry take --base, --base-rev, --root, --series, --out-dir, --format and "
           "--color only, carry --rev and --follow-moves too";
  if (!o.base_rev.empty() && imports_commits(o))
    return "--base-rev is for files: a commit is taken from its own parent";
  return {};
}

// One clear message instead of a wrong guess for options that do not go together.
std::string contradiction(const Options& o, const Aliases& a) {
  const int verbs = (a.verb.empty() ? 0 : 1) + (a.apply ? 1 : 0) + (a.revert ? 1 : 0);
  if (verbs > 1) return "give one of: a verb, --apply, --revert";
  if (a.json && o.format != "text" && o.format != "json") {
    return "--json and --format " + o.format + " contradict each other";
  }
  if (o.verb != Verb::kCheck && (o.format == "github" || o.format == "sarif")) {
    return "--format " + o.format + " belongs to check";
  }
  const bool based = !o.base.empty() || !o.base_rev.empty();
  if (o.follow_moves && o.verb != Verb::kCarry && (o.verb != Verb::kCheck || !based)) {
    return "--follow-moves belongs to carry and check --base";
  }
  if (o.verb == Verb::kImport || o.verb == Verb::kCarry) return import_contradiction(o, a);
  if (based && o.verb != Verb::kCheck && o.verb != Verb::kApply) {
    return "--base and --base-rev belong to check, apply, import and carry";
  }
  const int views = (o.stat ? 1 : 0) + (o.side_by_side ? 1 : 0) + (o.html.empty() ? 0 : 1) +
                    (o.out_dir.empty() ? 0 : 1);
  if (o.verb != Verb::kDiff && (views > 0 || a.width >= 0)) {
    return "--stat, --side-by-side, --width, --html and --out-dir belong to diff";
  }
  if (views > 1) return "give one of --stat, --side-by-side, --html and --out-dir";
  if (a.width >= 0 && !o.side_by_side) return "--width belongs to --side-by-side";
  if (!o.rev.empty() && o.verb != Verb::kCheck && o.verb != Verb::kDiff) {
    return "--rev belongs to check, diff and carry: a revision cannot be written to";
  }
  if (o.commit && o.verb != Verb::kApply) return "--commit belongs to apply";
  if (!o.commit && !o.branch.empty()) return "--branch belongs to apply --commit";
  if (o.verb == Verb::kDrift && a.operands.size() != 1) {
    return "drift needs a range of commits: A..B";
  }
  if (o.verb != Verb::kDrift && !a.operands.empty()) {
    return fmt::format("`{}`: only drift and import take more than a verb", a.operands.front());
  }
  if (o.verb != Verb::kCheck && !o.diffs.empty()) return "--diffs belongs to check";
  if (o.verb != Verb::kCheck && o.unpatched) return "--unpatched belongs to check";
  if (o.verb == Verb::kDrift && o.expect_changes) {
    return "--expect-changes belongs to check, diff, apply and revert";
  }
  return {};
}

// What the parser takes, as the tables of manual.h have it.
std::vector<OptionRow> option_rows(const CLI::App& app) {
  constexpr std::string_view kOf = "Options of ";
  std::vector<OptionRow> rows;
  for (const CLI::Option* option : app.get_options()) {
    OptionRow row{.value = option->get_option_text(), .description = option->get_description()};
    for (const std::string& name : option->get_snames())
      row.names.push_back("-" + name);
    for (const std::string& name : option->get_lnames())
      row.names.push_back("--" + name);
    if (row.names.empty()) continue;  // the verb
    std::string_view group = option->get_group();
    while (group.starts_with(kOf) || group.starts_with(", ")) {
      group.remove_prefix(group.starts_with(kOf) ? kOf.size() : 2);
      row.verbs.emplace_back(group.substr(0, group.find(',')));
      group.remove_prefix(row.verbs.back().size());
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

int usage_error(std::ostream& err, const std::string& what) {
  err << "patcher: " << what << "\nTry `patcher --help`.\n";
  return kExitUsage;
}

// `help VERB`, `VERB --help`, `completion SHELL` and values that are none: what needs no tree and
// no series, wherever options stand.
std::optional<int> print_about(std::span<const char* const> args, const CLI::App& app,
                               std::ostream& out, std::ostream& err) {
  const std::vector<OptionRow> options = option_rows(app);
  const auto [plain, help, fault] = words_of(args, options);
  if (!fault.empty()) return usage_error(err, fault);
  if (plain.empty()) return std::nullopt;
  const std::string_view first = plain[0];
  const std::string_view second = plain.size() > 1 ? plain[1] : "";
  if (first == "completion" && !help) {
    const std::string script = plain.size() == 2 ? completion_script(second, options) : "";
    if (script.empty()) return usage_error(err, "completion needs one of bash, zsh, fish");
    out << script;
    return 0;
  }
  if (first == "help" && plain.size() == 1 && !help) {
    out << app.help();
    return 0;
  }
  if (first != "help" && !(help && find_verb(first) != nullptr)) return std::nullopt;
  const VerbRow* verb = find_verb(help ? first : second);
  if (verb == nullptr) return usage_error(err, fmt::format("there is no verb `{}`", second));
  out << verb_page(*verb, options);
  return 0;
}

}  // namespace

bool imports_commits(const Options& o) {
  if (o.verb != Verb::kImport || o.files.size() != 1) return false;
  const std::filesystem::path only = o.files.front();
  const std::string extension = only.extension().string();
  const bool is_patch_name =
      extension == ".patch" || extension == ".diff" || extension == ".mbox" || extension == ".eml";
  if (is_patch_name) return false;
  std::error_code error;
  const auto type = std::filesystem::status(only, error).type();
  if (type == std::filesystem::file_type::not_found || error == std::errc::filename_too_long) {
    return true;
  }
  if (error) throw BrokenEnvironment(fmt::format("{}: {}", o.files.front(), error.message()));
  return false;
}

std::string carry_command(const Options& o) {
  std::string base;
  if (o.base_rev.empty() || o.base != o.root) base += " --base " + o.base;
  if (!o.base_rev.empty()) base += " --base-rev " + o.base_rev;
  return fmt::format("patcher carry{} --root {}{}{} --series {}{} --out-dir DIR", base, o.root,
                     o.rev.empty() ? "" : " --rev ", o.rev, o.series,
                     o.follow_moves ? " --follow-moves" : "");
}

std::optional<int> parse_options(std::span<const char* const> args, Options& options,
                                 std::ostream& out, std::ostream& err) {
  CLI::App app(kDescription, "patcher");
  app.footer(verb_table() + "\n" + exit_code_table());
  Aliases aliases;
  add_options(app, options, aliases);
  if (const auto told = print_about(args, app, out, err)) return told;
  try {
    app.parse(static_cast<int>(args.size()), args.data());
  } catch (const CLI::ParseError& e) {
    const bool asked = e.get_exit_code() == 0;
    return asked ? app.exit(e, out, err) : usage_error(err, e.what());
  }
  if (!aliases.verb.empty()) options.verb = kVerbs.at(aliases.verb);
  if (options.verb == Verb::kImport) options.files = aliases.operands;
  if (aliases.apply) options.verb = Verb::kApply;
  if (aliases.revert) options.verb = Verb::kRevert;
  if (aliases.until >= 0) options.until = static_cast<size_t>(aliases.until);
  options.json = aliases.json || options.format == "json";
  const std::string wrong = contradiction(options, aliases);
  if (!wrong.empty()) return usage_error(err, wrong);
  if (aliases.json) options.format = "json";
  if (options.verb == Verb::kDrift) options.range = aliases.operands.front();
  const bool has_base = options.verb == Verb::kImport || !options.base_rev.empty();
  if (has_base && options.base.empty()) options.base = options.root;
  if (aliases.width >= 0) options.width = static_cast<size_t>(aliases.width);
  return std::nullopt;
}

}  // namespace patcher
