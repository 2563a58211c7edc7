#include "patcher/cli/manual.h"

#include <fmt/format.h>

#include <algorithm>

#include "patcher/base/verdict.h"

namespace patcher {

const std::vector<VerbRow>& all_verbs() {
  static const std::vector<VerbRow> verbs = {
      {"check",
       "dry run: judge every patch on the tree, write nothing (the default)",
       R"(Prints one line a patch with its verdict, then what is wrong, with file:line and the nearest
candidate, and what is worth to note. Patch k is judged on the result of patches 1 to k-1;
all refusals are reported in one run. A patch that is in the tree counts as applied; where nobody
has applied any, as in upstream's tree, --unpatched makes it obsolete. With --diffs, says too where
a patch still applies but gives another diff than the one stored, because its surroundings changed.
With --base or --base-rev, the tree that the series was made for, refuses too a patch that applies
but adds a line that uses a name which is gone since, or calls a function whose parameters changed;
and says of a patch without a place where carry would place it.
A place that does not parse is refused: damaged_parse. Macros with names in capitals that stand
for attributes, parts of strings or statements are read as the preprocessor would read them; a
statement that an #if cuts through is as good as damaged, and what is around it is not.)",
       {"# would the series apply to src?\npatcher check --root src --series patches/series",
        "# annotations on a pull request\npatcher check --root src --format github",
        "# every night in CI, against upstream's newest\n"
        "patcher check --root src --rev origin/main --unpatched --format github",
        "# for a code scanning service\npatcher check --root src --format sarif",
        "# does each patch still mean what it meant on v1?\npatcher check --base v1 --root v2",
        "# the same, both from one repository\n"
        "patcher check --root src --base-rev v1 --rev v2",
        "# have the stored diffs drifted?\npatcher check --diffs patches/diffs"}},
      {"diff",
       "print each patch as a diff of the tree",
       R"(Each patch's diff is one that `git apply` takes. Give it one at a time, as --out-dir stores them:
of several at once, git leaves a file there that one of them changes and a later one renames or
deletes. The bytes do not depend on any configuration, locale or terminal. On a terminal the diff
is coloured, and the words that differ are reversed.
Patches that are applied already are shown as what they changed. If any patch is refused the
report of check is printed instead, and the exit code is its. --html writes its page either way.)",
       {"# review the whole series\npatcher diff --root src",
        "# how much does it change?\npatcher diff --root src --stat",
        "# before and after in two columns\npatcher diff --root src --side-by-side --width 200",
        "# a page to review in a browser\npatcher diff --root src --html review.html",
        "# store one diff a patch for reviewers\npatcher diff --root src --out-dir patches/diffs"}},
      {"apply",
       "check, and write if no patch is refused",
       R"(All or nothing: a refusal writes nothing. A run that is killed leaves a journal, and the next
apply or revert finishes or rolls back what it began. A second apply finds nothing to do.
With --base a patch must also mean what it meant there, see check; it is placed as without.
With --commit the tree is HEAD's: each patch becomes a commit with its Subject and Why as the
message. Staged changes, and changes to a file that a patch changes, refuse. No hook runs and
nothing is signed.)",
       {"# patch the tree\npatcher apply --root src",
        "# only the first three patches\npatcher apply --root src --until 3",
        "# one commit a patch on a new branch\npatcher apply --root src --commit --branch patched",
        "# fail if there was nothing to do\npatcher apply --root src --expect-changes"}},
      {"revert",
       "take the applied patches off, last first",
       R"(All or nothing, as apply. What else was changed in the tree since stays. A second revert finds
nothing to do.)",
       {"# take everything off\npatcher revert --root src",
        "# and tell a program about it\npatcher revert --root src --json"}},
      {"drift",
       "follow upstream's commits A..B: which one breaks which patch, and why",
       R"(Judges the series at every commit after A up to B, along first parents: a branch that was
merged counts at its merge. Nothing is checked out or written. Each patch is listed with its
verdict at B, the commits at which the verdict changed and, where upstream has made the same
change, since when. The exit code is as of a check --unpatched at B.)",
       {"# what broke since the last release?\npatcher drift v1.2..main --root src",
        "# the same for a program\npatcher drift v1.2..main --root src --json"}},
      {"import",
       "turn commits, diffs and patch mails into anchored patches",
       R"(Does each FILE to the base, where it must fit at the lines that it names, and writes a patch
with the smallest anchor that is there once in its scope. Each patch is proven: on the base it
makes exactly the diff's change. If any cannot be written so, nothing is written. The same input
gives the same bytes; a file that is there and differs is never overwritten.
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
        "# the commits of a branch\npatcher import main..mine --root src --out-dir patches"}},
      {"carry",
       "move a series from the tree that it was made for to another version of it",
       R"(Writes the series for --root (its files, or its --rev) into --out-dir and says of each patch
what became of it: unchanged; re-anchored, the same change found by the tokens around it and
written with new anchors; obsolete, left out because the tree has the change; or that it needs a
person, and why. Refused is also an added line that uses a name which is gone, or calls a function
whose parameters changed. A diff or mail has its places in --base by its line numbers; if they are
stale, where its lines are, if that is one place. What needs a person is written as it was, with a
remark in the series, and the exit code says so: mend it there, and check the new series.
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
        "patcher carry --base v1 --root v2 --out-dir patches-v2 --follow-moves"}},
      {"help",
       "print what a verb does, its options, examples and exit codes",
       R"(Without a verb: the same as --help.)",
       {"# all about apply\npatcher help apply"}},
      {"completion",
       "print a completion script for bash, zsh or fish",
       R"(The script completes the verbs, the options that this version takes, their values, and files
where they are wanted.)",
       {"# bash, in ~/.bashrc\nsource <(patcher completion bash)",
        "# zsh, in ~/.zshrc\nsource <(patcher completion zsh)",
        "# fish, in ~/.config/fish/config.fish\npatcher completion fish | source"}},
  };
  return verbs;
}

const VerbRow* find_verb(std::string_view name) {
  const auto& verbs = all_verbs();
  const auto it =
      std::find_if(verbs.begin(), verbs.end(), [&](const VerbRow& v) { return v.name == name; });
  return it == verbs.end() ? nullptr : &*it;
}

bool OptionRow::belongs_to(std::string_view verb) const {
  return verbs.empty() || std::find(verbs.begin(), verbs.end(), verb) != verbs.end();
}

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

}  // namespace

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

std::string verb_table() {
  std::string text = "Verbs:\n";
  for (const VerbRow& verb : all_verbs())
    text += fmt::format("  {:<11} {}\n", verb.name, verb.summary);
  return text;
}

std::string verb_page(const VerbRow& verb, const std::vector<OptionRow>& options) {
  std::string page = fmt::format("patcher {}: {}\n\n{}\n", verb.name, verb.summary, verb.text);
  if (verb.name != "help" && verb.name != "completion") {
    page += "\nOptions:\n";
    for (const OptionRow& o : options) {
      if (!o.belongs_to(verb.name)) continue;
      const std::string head =
          fmt::format("{}", fmt::join(o.names, ", ")) + (o.value.empty() ? "" : " " + o.value);
      page += "  " + head + "\n" + wrapped(o.description, 6);
    }
  }
  page += "\nExamples:\n";
  for (std::string_view example : verb.examples) {
    const size_t line = example.find('\n');
    page += fmt::format("  {}\n    {}\n", example.substr(0, line), example.substr(line + 1));
  }
  return page + "\n" + exit_code_table();
}

}  // namespace patcher
