#include "patcher/options.h"

#include <fmt/format.h>
#include <git2.h>
#include <tree_sitter/api.h>

#include <CLI/CLI.hpp>
#include <map>

namespace patcher {
namespace {

constexpr const char* kDescription =
    "Carries an ordered series of source patches over a C++/CUDA tree: finds every place by "
    "syntax, "
    "exactly once, or refuses. Nothing is written unless the verb says so.";

const std::map<std::string, Verb> kVerbs = {{"check", Verb::kCheck},
                                            {"diff", Verb::kDiff},
                                            {"apply", Verb::kApply},
                                            {"revert", Verb::kRevert}};

std::string footer() {
  std::string text =
      "Verbs:\n"
      "  check    dry run: judge every patch on the tree, write nothing (the default)\n"
      "  diff     print each patch as a unified diff of the tree; --stat for counts only\n"
      "  apply    check, and write if no patch is refused\n"
      "  revert   take the applied patches off, last first\n"
      "\nExit codes (of the first refused patch):\n"
      "    0  every patch applies, was applied, or already is\n";
  text += fmt::format("  {:>3}  wrong command line\n", kExitUsage);
  text += fmt::format("  {:>3}  a file cannot be read or written\n", kExitEnvironment);
  text += fmt::format("  {:>3}  check --diffs: the stored diffs have drifted\n", kExitDiffsDrifted);
  for (Verdict v : kAllVerdicts) {
    if (v == Verdict::kApplies) continue;
    text += fmt::format("  {:>3}  {:<16} {}{}\n", exit_code(v), verdict_name(v), verdict_meaning(v),
                        v == Verdict::kAlreadyApplied ? " (only with --expect-changes)" : "");
  }
  return text;
}

std::string version() {
  return fmt::format(
      "patcher {}\ntree-sitter {}\ntree-sitter-c {}\ntree-sitter-cpp {}\ntree-sitter-cuda {}\n"
      "libgit2 {}\n",
      PATCHER_VERSION, TREE_SITTER_VERSION, GRAMMAR_C_VERSION, GRAMMAR_CPP_VERSION,
      GRAMMAR_CUDA_VERSION, LIBGIT2_VERSION);
}

struct Aliases {
  std::string verb;
  bool apply = false;
  bool revert = false;
  long until = -1;
};

void add_options(CLI::App& app, Options& o, Aliases& a) {
  app.add_option("verb", a.verb, "check, diff, apply or revert")
      ->check(CLI::IsMember({"check", "diff", "apply", "revert"}))
      ->option_text("[check|diff|apply|revert]");
  app.add_option("--root", o.root, "The tree to patch")->capture_default_str()->option_text("DIR");
  app.add_option("--series", o.series, "The list of patches; they lie beside it")
      ->capture_default_str()
      ->option_text("FILE");
  app.add_option(
         "--rev", o.rev,
         "check, diff: judge this git revision of DIR, or REV:DIRECTORY, without a checkout")
      ->option_text("REV");
  app.add_option("--until", a.until, "Only the first N patches of the series")
      ->check(CLI::Range(0L, 1000000L))
      ->option_text("N");
  app.add_flag("--apply", a.apply, "The same as the verb apply");
  app.add_flag("--revert", a.revert, "The same as the verb revert");
  app.add_flag("--json", o.json, "Report as one JSON object");
  app.add_option("--color", o.color, "auto (on a terminal without NO_COLOR), always, never")
      ->check(CLI::IsMember({"auto", "always", "never"}))
      ->option_text("WHEN");
  app.add_flag("--stat", o.stat, "diff: counts a file instead of the diff");
  app.add_option("--out-dir", o.out_dir, "diff: write NAME.diff for each patch there")
      ->option_text("DIR");
  app.add_option("--diffs", o.diffs, "check: compare with the diffs stored there")
      ->option_text("DIR");
  app.add_flag("--allow-empty-series", o.allow_empty, "A series without patches is no error");
  app.add_flag("--expect-changes", o.expect_changes,
               "Exit with already_applied's code when there is nothing to do");
  app.set_version_flag("--version", version(), "Print the pinned versions and leave");
}

// One clear message instead of a wrong guess for options that do not go together.
std::string contradiction(const Options& o, const Aliases& a) {
  const int verbs = (a.verb.empty() ? 0 : 1) + (a.apply ? 1 : 0) + (a.revert ? 1 : 0);
  if (verbs > 1) return "give one of: a verb, --apply, --revert";
  if (o.verb != Verb::kDiff && (o.stat || !o.out_dir.empty())) {
    return "--stat and --out-dir belong to diff";
  }
  if (!o.rev.empty() && (o.verb == Verb::kApply || o.verb == Verb::kRevert)) {
    return "--rev belongs to check and diff: a revision cannot be written to";
  }
  if (o.verb != Verb::kCheck && !o.diffs.empty()) return "--diffs belongs to check";
  return {};
}

}  // namespace

std::optional<int> parse_options(std::span<const char* const> args, Options& options,
                                 std::ostream& out, std::ostream& err) {
  CLI::App app(kDescription, "patcher");
  app.footer(footer());
  Aliases aliases;
  add_options(app, options, aliases);
  try {
    app.parse(static_cast<int>(args.size()), args.data());
  } catch (const CLI::ParseError& e) {
    const bool asked = e.get_exit_code() == 0;
    if (asked) return app.exit(e, out, err);
    err << "patcher: " << e.what() << "\nTry `patcher --help`.\n";
    return kExitUsage;
  }
  if (!aliases.verb.empty()) options.verb = kVerbs.at(aliases.verb);
  if (aliases.apply) options.verb = Verb::kApply;
  if (aliases.revert) options.verb = Verb::kRevert;
  if (aliases.until >= 0) options.until = static_cast<size_t>(aliases.until);
  const std::string wrong = contradiction(options, aliases);
  if (wrong.empty()) return std::nullopt;
  err << "patcher: " << wrong << "\nTry `patcher --help`.\n";
  return kExitUsage;
}

}  // namespace patcher
