// The program as its users run it: verbs, exit codes, JSON, stored diffs.

#include <nlohmann/json.hpp>

#include "patcher/base/verdict.h"
#include "tests/patcher/scratch.h"

namespace patcher {
namespace {

namespace fs = std::filesystem;
using testing::Test;

TEST(Program, HelpNamesEveryExitCodeAndVersionEveryGrammar) {
  Scratch s;
  EXPECT_EQ(s.run_plain({"patcher", "--help"}), 0);
  for (Verdict v : kAllVerdicts) {
    if (v == Verdict::kApplies) continue;
    EXPECT_TRUE(holds(s.out, std::string(verdict_name(v)))) << verdict_name(v);
  }
  EXPECT_EQ(s.run_plain({"patcher", "--version"}), 0);
  for (const char* name : {"tree-sitter-c ", "tree-sitter-cpp ", "tree-sitter-cuda "}) {
    EXPECT_TRUE(holds(s.out, name));
  }
}

// `help VERB` lists an option with its value; no verb may then say that it does not take it.
TEST(Program, TheHelpOfAVerbListsWhatItTakes) {
  const std::map<std::string, std::vector<std::string>> needed = {
      {"import", {"{dir}/1.diff", "--out-dir", "{dir}/made"}},
      {"carry", {"--base", "{dir}/tree", "--out-dir", "{dir}/made"}},
      {"drift", {"A..B"}},
      {"--follow-moves", {"--base", "{dir}/tree"}},
      {"--branch", {"--commit"}},
      {"--width", {"--side-by-side"}}};
  const std::map<std::string, std::string> values = {
      {"DIR", "{dir}/tree"}, {"FILE", "{dir}/file"}, {"N", "100"}, {"NAME", "x"}, {"REV", "HEAD"}};
  for (const std::string verb : {"check", "diff", "apply", "revert", "drift", "import", "carry"}) {
    Scratch s;
    s.file("a.cpp", "int a;\n");
    s.patch("1.patch", kChangeA);
    const auto in_scratch = [&](std::string word) {
      const size_t at = word.find("{dir}");
      return at == word.npos ? word : word.replace(at, 5, s.directory().string());
    };
    ASSERT_EQ(s.run_plain({"patcher", "help", verb}), 0);
    std::istringstream page(s.out);
    size_t options = 0;
    for (std::string line; std::getline(page, line);) {
      const size_t at = line.find("--");
      if (!line.starts_with("  -") || at == line.npos) continue;
      const size_t blank = std::min(line.find(' ', at), line.size());
      const std::string option = line.substr(at, blank - at);
      const std::string value = line.substr(std::min(blank + 1, line.size()));
      if (option == "--help" || option == "--version" || option == "--" + verb) continue;
      std::vector<std::string> args{verb, option};
      if (!value.empty()) {
        const auto known = values.find(value);
        args.push_back(known != values.end() ? in_scratch(known->second)
                                             : value.substr(0, value.find('|')));
      }
      for (const std::string& key : {verb, option}) {
        const auto more = needed.find(key);
        for (size_t i = 0; more != needed.end() && i < more->second.size(); ++i) {
          const std::string& word = more->second[i];
          if (std::find(args.begin(), args.end(), word) != args.end()) {
            ++i;  // its value
          } else {
            args.push_back(in_scratch(word));
          }
        }
      }
      if (option != "--root" && option != "--series") {
        s.run(args);
      } else {
        args.insert(args.begin(), "patcher");
        s.run_plain(args);
      }
      EXPECT_FALSE(holds(s.err, "Try `patcher --help`")) << verb << " " << option << ": " << s.err;
      ++options;
    }
    EXPECT_GE(options, 5u) << verb;
  }
}

TEST(Program, EveryVerdictHasItsOwnCodeAndName) {
  std::map<int, Verdict> codes;
  std::map<std::string, Verdict> names;
  for (Verdict v : kAllVerdicts) {
    EXPECT_TRUE(codes.emplace(exit_code(v), v).second);
    EXPECT_TRUE(names.emplace(std::string(verdict_name(v)), v).second);
  }
  EXPECT_EQ(codes.size(), 12u);
}

TEST(Program, WrongCommandLinesAreUsageErrors) {
  Scratch s;
  const std::vector<std::vector<std::string>> wrong = {
      {"patcher", "frobnicate"},           {"patcher", "--frobnicate"},
      {"patcher", "apply", "--revert"},    {"patcher", "check", "--stat"},
      {"patcher", "--until", "x"},         {"patcher", "--color", "blue"},
      {"patcher", "apply", "--diffs", "x"}};
  for (const auto& args : wrong) {
    EXPECT_EQ(s.run_plain(args), kExitUsage) << args.back();
    EXPECT_TRUE(holds(s.err, "patcher: ")) << args.back();
  }
}

TEST(Program, ABrokenEnvironmentIsOneLineAndCode3) {
  Scratch s;
  s.patch("1.patch", kChangeA);
  EXPECT_EQ(s.run_plain({"patcher", "--root", "/nonexistent/x", "--series",
                         (s.patches() / "series").string()}),
            kExitEnvironment);
  EXPECT_TRUE(holds(s.err, "/nonexistent/x"));
  EXPECT_EQ(s.run_plain({"patcher", "--series", "/nonexistent/series"}), kExitEnvironment);
}

TEST(Program, AliasesAreTheVerbs) {
  Scratch s;
  s.file("a.cpp", "int a;\n");
  s.patch("1.patch", kChangeA);
  EXPECT_EQ(s.run({}), 0);
  EXPECT_EQ(s.bytes("a.cpp"), "int a;\n");
  EXPECT_EQ(s.run({"--apply"}), 0);
  EXPECT_EQ(s.bytes("a.cpp"), "int b;\n");
  EXPECT_EQ(s.run({"--revert"}), 0);
  EXPECT_EQ(s.bytes("a.cpp"), "int a;\n");
}

TEST(Program, UntilTakesTheFirstPatchesOnly) {
  Scratch s;
  s.file("a.cpp", "int a;\n");
  s.patch("1.patch", kChangeA);
  s.patch("2.patch", "--- a.cpp\n+++ a.cpp\n@@ file @@\n-int b;\n+int c;\n");
  s.patch("3.patch", "nonsense\n");
  EXPECT_EQ(s.run({"apply", "--until", "1"}), 0);
  EXPECT_EQ(s.bytes("a.cpp"), "int b;\n");
  EXPECT_EQ(s.run({"apply", "--until", "2"}), 0) << s.err;
  EXPECT_TRUE(holds(s.out, "already_applied"));
  EXPECT_EQ(s.bytes("a.cpp"), "int c;\n");
  EXPECT_EQ(s.run({"revert", "--until", "2"}), 0);
  EXPECT_EQ(s.bytes("a.cpp"), "int a;\n");
  EXPECT_EQ(s.run({"apply"}), exit_code(Verdict::kMalformed));
  EXPECT_EQ(s.bytes("a.cpp"), "int a;\n");
  EXPECT_EQ(s.run({"apply", "--until", "4"}), exit_code(Verdict::kMalformed));
}

// The second would be left on a tree without the first, where it can neither come off nor count.
TEST(Program, RevertUntilLeavesNoHole) {
  Scratch s;
  s.file("a.cpp", "int a;\n");
  s.file("b.cpp", "int a;\n");
  s.patch("1.patch", kChangeA);
  s.patch("2.patch", "--- b.cpp\n+++ b.cpp\n@@ file @@\n-int a;\n+int c;\n");
  ASSERT_EQ(s.run({"apply"}), 0) << s.err;
  EXPECT_EQ(s.run({"revert", "--until", "1"}), exit_code(Verdict::kOutdated));
  EXPECT_TRUE(holds(s.err, "2.patch:1:1: error: outdated: it is applied, and patch 1 below it"))
      << s.err;
  EXPECT_EQ(s.bytes("a.cpp"), "int b;\n");
  EXPECT_EQ(s.run({"revert", "--until", "2"}), 0) << s.err;
  ASSERT_EQ(s.run({"apply", "--until", "1"}), 0) << s.err;
  EXPECT_EQ(s.run({"revert", "--until", "1"}), 0) << s.err;
  EXPECT_EQ(s.bytes("a.cpp"), "int a;\n");
}

// In upstream's tree nobody has applied anything: a check of it must not pass in silence.
TEST(Program, WhatIsInAnUnpatchedTreeIsObsolete) {
  Scratch s;
  s.file("a.cpp", "int b;\n");
  s.file("b.cpp", "int a;\n");
  s.patch("1.patch", kChangeA);
  s.patch("2.patch", "--- b.cpp\n+++ b.cpp\n@@ file @@\n-int a;\n+int c;\n");
  EXPECT_EQ(s.run({"check"}), 0);
  EXPECT_EQ(s.run({"check", "--unpatched"}), exit_code(Verdict::kObsolete));
  EXPECT_TRUE(holds(s.out, "1/2 obsolete")) << s.out;
  EXPECT_TRUE(holds(s.out, "2/2 applies")) << s.out;
  EXPECT_TRUE(holds(s.err, "1.patch:1:1: error: obsolete: its change is in the tree")) << s.err;
  EXPECT_TRUE(holds(s.err, "upstream has it: drop patch 1")) << s.err;
  s.file("a.cpp", "int a;\n");
  EXPECT_EQ(s.run({"check", "--unpatched"}), 0) << s.err;
  s.file("b.cpp", "int c;\n");
  EXPECT_EQ(s.run({"check", "--unpatched"}), exit_code(Verdict::kObsolete));
  EXPECT_TRUE(holds(s.out, "1/2 applies")) << s.out;
  EXPECT_EQ(s.run({"apply", "--unpatched"}), kExitUsage);
}

TEST(Program, RevertKeepsWhatIsNotTheSeries) {
  Scratch s;
  s.file("a.cpp", "int a;\n\nint mine;\n");
  s.patch("1.patch", kChangeA);
  ASSERT_EQ(s.run({"apply"}), 0);
  s.file("a.cpp", "int b;\n\nint mine = 7;  // edited since\n");
  EXPECT_EQ(s.run({"revert"}), 0);
  EXPECT_EQ(s.bytes("a.cpp"), "int a;\n\nint mine = 7;  // edited since\n");
  EXPECT_EQ(s.run({"revert"}), 0);
  EXPECT_TRUE(holds(s.out, "nothing to do"));
}

// Neither what it needs nor what it makes: that is not "nothing to do".
TEST(Program, RevertRefusesWhatItCannotRecognise) {
  Scratch s;
  s.file("a.cpp", "int a;\nint b;\nint d;\n");
  s.patch("1.patch", "--- a.cpp\n+++ a.cpp\n@@ file @@\n int a;\n-int b;\n+int c;\n int d;\n");
  ASSERT_EQ(s.run({"apply"}), 0);
  s.file("a.cpp", "x y;\nlong c[2];\nz(d);\n");
  EXPECT_EQ(s.run({"revert"}), exit_code(Verdict::kMissing));
  EXPECT_TRUE(holds(s.err, "whether it is applied is not known")) << s.err;
  EXPECT_EQ(s.bytes("a.cpp"), "x y;\nlong c[2];\nz(d);\n");
}

TEST(Program, AnEmptySeriesIsAnErrorUnlessAllowed) {
  Scratch s;
  write_bytes(s.patches() / "series", "# none\n");
  EXPECT_EQ(s.run({}), exit_code(Verdict::kMalformed));
  EXPECT_TRUE(holds(s.err, "no patches"));
  EXPECT_EQ(s.run({"--allow-empty-series"}), 0);
}

TEST(Program, AllFailuresAreReportedInOneRun) {
  Scratch s;
  s.file("a.cpp", "int a;\n");
  s.patch("1.patch", "--- a.cpp\n+++ a.cpp\n@@ nope @@\n-int a;\n+int b;\n");
  s.patch("2.patch", "--- b.cpp\n+++ b.cpp\n@@ file @@\n-int a;\n+int b;\n");
  s.patch("3.patch", "bad: 1\n");
  EXPECT_EQ(s.run({"apply", "--json"}), exit_code(Verdict::kMissing));
  const auto j = nlohmann::json::parse(s.out);
  EXPECT_EQ(j["patches"][0]["verdict"], "missing");
  EXPECT_EQ(j["patches"][1]["verdict"], "file_missing");
  EXPECT_EQ(j["patches"][2]["verdict"], "malformed");
  EXPECT_EQ(j["written"], 0);
  EXPECT_EQ(j["patches"][0]["findings"][0]["patch_line"], 5);
}

TEST(Program, TheTreeMayLieInsideAnotherRepository) {
  Scratch s;
  fs::create_directories(s.directory() / ".git");
  s.file("vendor/lib/a.cpp", "int a;\n");
  s.patch("1.patch", kChangeA);
  const std::string root = (s.root() / "vendor/lib").string();
  EXPECT_EQ(s.run_plain({"patcher", "apply", "--root", root, "--series",
                         (s.patches() / "series").string()}),
            0);
  EXPECT_EQ(s.bytes("vendor/lib/a.cpp"), "int b;\n");
}

TEST(Program, ColourIsForTerminalsAndAskedFor) {
  Scratch s;
  s.file("a.cpp", "int a;\n");
  s.patch("1.patch", kChangeA);
  s.run({});
  EXPECT_FALSE(holds(s.out, "\x1b["));
  s.run({"--color", "always"});
  EXPECT_TRUE(holds(s.out, "\x1b["));
  const std::string series = (s.patches() / "series").string();
  const std::string root = s.root().string();
  const std::vector<const char*> args = {"patcher", "--root", root.c_str(), "--series",
                                         series.c_str()};
  std::ostringstream out;
  std::ostringstream err;
  run_cli(args, out, err, {.out_is_terminal = true, .err_is_terminal = true, .no_color = true});
  EXPECT_FALSE(holds(out.str(), "\x1b["));
  run_cli(args, out, err, {.out_is_terminal = true, .err_is_terminal = true});
  EXPECT_TRUE(holds(out.str(), "\x1b["));
}

TEST(Program, TheSurroundingsChangeNoByteAndNoExitCode) {
  Scratch s;
  s.file("a.cpp", "int a;\n\nint y;\n");
  s.patch("1.patch", kChangeA);
  ASSERT_EQ(s.run({"diff"}), 0);
  const std::string diff = s.out;
  write_bytes(s.directory() / "home/.gitconfig",
              "[diff]\n\tnoprefix = true\n\talgorithm = histogram\n\texternal = false\n"
              "\tcontext = 0\n[core]\n\tautocrlf = true\n");
  const std::map<std::string, std::string> surroundings = {
      {"HOME", (s.directory() / "home").string()},
      {"CI", "true"},
      {"LANG", "tr_TR.UTF-8"},
      {"LC_ALL", "tr_TR.UTF-8"},
      {"TERM", "dumb"},
      {"GIT_EXTERNAL_DIFF", "false"},
      {"GIT_DIFF_OPTS", "--unified=0"},
      {"COLUMNS", "20"}};
  std::map<std::string, std::string> kept;
  for (const auto& [name, value] : surroundings) {
    if (const char* old = std::getenv(name.c_str())) kept[name] = old;
    setenv(name.c_str(), value.c_str(), 1);
  }
  EXPECT_EQ(s.run({"diff"}), 0);
  EXPECT_EQ(s.out, diff);
  s.file("a.cpp", "int c;\n");
  EXPECT_EQ(s.run({"apply"}), exit_code(Verdict::kMissing));
  for (const auto& [name, value] : surroundings) {
    kept.contains(name) ? setenv(name.c_str(), kept[name].c_str(), 1) : unsetenv(name.c_str());
  }
}

// --- stored diffs

class StoredDiffs : public Test {
 protected:
  void SetUp() override {
    s.file("a.cpp", "int z;\n\nint a;\n\nint y;");
    s.patch("1.patch", kChangeA);
    s.patch("2.patch", "--- a.cpp\n+++ a.cpp\n@@ file @@\n-int y;\n+int x;\n");
    diffs = (s.directory() / "diffs").string();
    ASSERT_EQ(s.run({"diff", "--out-dir", diffs}), 0) << s.err;
  }
  Scratch s;
  std::string diffs;
};

TEST_F(StoredDiffs, AreOneUnifiedDiffAPatch) {
  EXPECT_EQ(read_bytes(diffs + "/1.diff"),
            "diff --git a/a.cpp b/a.cpp\n--- a/a.cpp\n+++ b/a.cpp\n@@ -1,5 +1,5 @@\n int z;\n \n"
            "-int a;\n+int b;\n \n int y;\n\\ No newline at end of file\n");
  EXPECT_EQ(read_bytes(diffs + "/2.diff"),
            "diff --git a/a.cpp b/a.cpp\n--- a/a.cpp\n+++ b/a.cpp\n@@ -2,4 +2,4 @@\n \n int b;\n \n"
            "-int y;\n\\ No newline at end of file\n+int x;\n\\ No newline at end of file\n");
}
TEST_F(StoredDiffs, AreTheSameFromAPatchedTree) {
  ASSERT_EQ(s.run({"apply"}), 0);
  EXPECT_EQ(s.run({"check", "--diffs", diffs}), 0) << s.err;
}
TEST_F(StoredDiffs, DriftIsReportedThoughEveryAnchorMatches) {
  s.file("a.cpp", "int z;\nint w;\nint a;\n\nint y;");
  EXPECT_EQ(s.run({"check", "--diffs", diffs}), kExitDiffsDrifted);
  EXPECT_TRUE(holds(s.err, "1.diff:")) << s.err;
  EXPECT_TRUE(holds(s.err, "drift"));
}
TEST_F(StoredDiffs, StrippedBlanksAndStrayFilesAreNamed) {
  std::string text = read_bytes(diffs + "/1.diff");
  for (size_t i = 0; (i = text.find("\n \n", i)) != std::string::npos;)
    text.replace(i, 3, "\n\n");
  write_bytes(diffs + "/1.diff", text);
  write_bytes(diffs + "/9.diff", "");
  EXPECT_EQ(s.run({"check", "--diffs", diffs}), kExitDiffsDrifted);
  EXPECT_TRUE(holds(s.err, "1.diff: context blank lines stripped")) << s.err;
  EXPECT_TRUE(holds(s.err, "9.diff: belongs to no patch"));
}
TEST_F(StoredDiffs, StatCountsInsteadOfShowing) {
  EXPECT_EQ(s.run({"diff", "--stat"}), 0);
  EXPECT_TRUE(holds(s.out, "a.cpp")) << s.out;
  EXPECT_FALSE(holds(s.out, "@@"));
}

}  // namespace
}  // namespace patcher
