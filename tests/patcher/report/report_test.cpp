// What the program tells of itself and how it reports, beside plain text and JSON.
#include <nlohmann/json.hpp>

#include <cstdio>
#include <set>

#include "patcher/base/verdict.h"
#include "patcher/cli/command_line.h"
#include "tests/patcher/scratch.h"

namespace patcher {
namespace {

std::vector<VerbRow> all_verbs() {
  return CommandLine().verbs();
}

std::set<std::string> all_options() {
  std::set<std::string> names;
  std::vector<VerbRow> verbs = all_verbs();
  verbs.push_back({nullptr, program_options()});
  for (const VerbRow& verb : verbs) {
    for (const OptionRow& row : verb.options)
      names.insert(row.names.back());
  }
  return names;
}

std::vector<std::string> split(const std::string& text) {
  std::istringstream in(text);
  return {std::istream_iterator<std::string>(in), {}};
}

// Every "--word" in a text.
std::set<std::string> options_in(const std::string& text) {
  std::set<std::string> out;
  for (size_t i = text.find("--"); i != std::string::npos; i = text.find("--", i)) {
    const size_t end = text.find_first_not_of("abcdefghijklmnopqrstuvwxyz-", i);
    out.insert(text.substr(i, end - i));
    i = std::min(end, text.size());
  }
  return out;
}

// --- help

TEST(Manual, EveryVerbHasAPageWithExamplesAndExitCodes) {
  Scratch s;
  for (const VerbRow& verb : all_verbs()) {
    ASSERT_EQ(s.run_plain({"patcher", "help", std::string(verb.manual->name)}), 0);
    const std::string page = s.out;
    EXPECT_TRUE(holds(page, "Examples:")) << verb.manual->name;
    EXPECT_TRUE(holds(page, "  20  outdated")) << verb.manual->name;
    std::istringstream lines(page);
    for (std::string line; std::getline(lines, line);)
      EXPECT_LE(line.size(), 100u) << verb.manual->name << ": " << line;
    ASSERT_EQ(s.run_plain({"patcher", std::string(verb.manual->name), "--help"}), 0);
    EXPECT_EQ(s.out, page);
  }
  // As apply.sh runs it, with options before the verb.
  ASSERT_EQ(s.run_plain({"patcher", "--root", "help", "--series=x", "help", "apply"}), 0) << s.err;
  EXPECT_TRUE(s.out.starts_with("patcher apply: ")) << s.out;
  ASSERT_EQ(s.run_plain({"patcher", "--root", "x", "completion", "fish"}), 0);
  EXPECT_EQ(s.run_plain({"patcher", "help"}), 0);
  EXPECT_EQ(s.run_plain({"patcher", "help", "frobnicate"}), kExitUsage);
  EXPECT_TRUE(holds(s.err, "frobnicate"));
}

TEST(Manual, NamesOnlyOptionsThatExistAndEachVerbsOwn) {
  Scratch s;
  const std::set<std::string> known = all_options();
  for (const VerbRow& verb : all_verbs()) {
    s.run_plain({"patcher", "help", std::string(verb.manual->name)});
    for (const std::string& name : options_in(s.out))
      EXPECT_TRUE(known.contains(name)) << verb.manual->name << " " << name;
  }
  s.run_plain({"patcher", "help", "apply"});
  EXPECT_FALSE(options_in(s.out).contains("--stat"));
  s.run_plain({"patcher", "help", "diff"});
  EXPECT_TRUE(options_in(s.out).contains("--stat"));
}

// The patcher's own words in a shell's line.
std::string command_in(std::string line) {
  const std::string source = "source <(";
  if (line.starts_with(source)) line = line.substr(source.size(), line.find(')') - source.size());
  return line.substr(0, line.find(" |"));
}

TEST(Manual, ItsExamplesAreCommandLines) {
  Scratch s;
  for (const VerbRow& verb : all_verbs()) {
    ASSERT_FALSE(verb.manual->examples.empty()) << verb.manual->name;
    for (std::string_view example : verb.manual->examples) {
      const std::string line(example.substr(example.find('\n') + 1));
      EXPECT_NE(s.run_plain(split(command_in(line))), kExitUsage) << line << "\n" << s.err;
    }
  }
}

// An option of another verb is told as such; one that no verb has is not known.
TEST(Manual, AnOptionIsItsVerbs) {
  Scratch s;
  EXPECT_EQ(s.run_plain({"patcher", "apply", "--stat"}), kExitUsage);
  EXPECT_TRUE(holds(s.err, "apply does not take --stat, which belongs to diff\n")) << s.err;
  EXPECT_EQ(s.run_plain({"patcher", "--rev=x", "--apply"}), kExitUsage);
  EXPECT_TRUE(holds(s.err, "apply does not take --rev, which belongs to check, diff, carry\n"));
  EXPECT_EQ(s.run_plain({"patcher", "check", "--what"}), kExitUsage);
  EXPECT_TRUE(holds(s.err, "--what")) << s.err;
  EXPECT_EQ(s.run_plain({"patcher", "check", "more"}), kExitUsage);
  EXPECT_TRUE(holds(s.err, "more")) << s.err;
}

// The words are read before it is known which verb they are of.
TEST(Manual, AnOptionTakesAValueWithEveryVerbOrWithNone) {
  std::map<std::string, bool> takes;
  for (const VerbRow& verb : all_verbs()) {
    for (const OptionRow& row : verb.options) {
      const auto [it, fresh] = takes.emplace(row.names.back(), !row.value.empty());
      EXPECT_EQ(it->second, !row.value.empty()) << row.names.back();
    }
  }
}

// Wrappers give options before the words that they pass on.
TEST(Manual, TheVerbMayStandAnywhere) {
  Scratch s;
  s.file("a.cpp", "int a;\n");
  s.patch("1.patch", kChangeA);
  const std::string root = s.root().string();
  const std::string series = (s.patches() / "series").string();
  EXPECT_EQ(s.run_plain({"patcher", "--root", root, "--series=" + series, "--json", "apply",
                         "--until", "1", "--expect-changes"}),
            0)
      << s.err;
  EXPECT_EQ(nlohmann::json::parse(s.out)["verb"], "apply");
  EXPECT_EQ(s.run_plain({"patcher", "--until=1", "--root", root, "--revert", "--series", series}),
            0)
      << s.err;
  EXPECT_EQ(s.bytes("a.cpp"), "int a;\n");
}

TEST(Manual, FormatsThatContradictAreUsageErrors) {
  Scratch s;
  const std::vector<std::vector<std::string>> wrong = {
      {"patcher", "--json", "--format", "sarif"},
      {"patcher", "apply", "--format", "github"},
      {"patcher", "import", "1.diff", "--out-dir", "made", "--json", "--format", "sarif"},
      {"patcher", "import", "1.diff", "--out-dir", "made", "--format", "github"},
      {"patcher", "carry", "--base", "v1", "--out-dir", "made", "--format", "sarif"},
      {"patcher", "diff", "--stat", "--side-by-side"},
      {"patcher", "diff", "--width", "100"},
      {"patcher", "completion", "tcsh"},
      {"patcher", "completion"}};
  for (const auto& args : wrong)
    EXPECT_EQ(s.run_plain(args), kExitUsage) << args.back();
}

// --- completion

class Completion : public testing::Test {
 protected:
  // What the script's function offers for the last word of a command line.
  std::vector<std::string> offers(const std::string& line, const std::string& shell = "bash") {
    s.run_plain({"patcher", "completion", shell.substr(0, shell.find(' '))});
    write_bytes(s.directory() / "completion", s.out);
    return words_of(shell, "source '" + (s.directory() / "completion").string() + "'\n" +
                               (shell != "bash" ? "emulate sh\n" : "") + "COMP_WORDS=(" + line +
                               "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _patcher;" +
                               " printf '%s\\n' \"${COMPREPLY[@]}\"");
  }
  std::vector<std::string> words_of(const std::string& shell, const std::string& script) {
    write_bytes(s.directory() / "ask", script);
    // A home of its own, which shells write to; and nobody to answer what they ask.
    const std::string home = s.directory().string();
    const std::string line = "HOME='" + home + "' ZDOTDIR='" + home + "' XDG_CONFIG_HOME='" + home +
                             "' XDG_DATA_HOME='" + home + "' " + shell + " '" + home +
                             "/ask' </dev/null";
    FILE* pipe = popen(line.c_str(), "r");
    std::string out;
    for (int c = 0; (c = fgetc(pipe)) != EOF;)
      out += static_cast<char>(c);
    EXPECT_EQ(pclose(pipe), 0);
    return split(out);
  }
  using Words = std::vector<std::string>;
  Scratch s;
};

TEST_F(Completion, OfBashOffersVerbsOptionsAndValues) {
  EXPECT_EQ(offers("patcher ap"), Words{"apply"});
  EXPECT_EQ(offers("patcher --color a"), (Words{"auto", "always"}));
  EXPECT_EQ(offers("patcher check --format s"), Words{"sarif"});
  EXPECT_EQ(offers("patcher check --format = s"), Words{"sarif"});  // as bash cuts --format=s
  EXPECT_EQ(offers("patcher check --color ="), (Words{"auto", "always", "never"}));
  EXPECT_EQ(offers("patcher diff --st"), Words{"--stat"});
  EXPECT_EQ(offers("patcher check --st"), Words{});
  EXPECT_EQ(offers("patcher help re"), Words{"revert"});
  EXPECT_EQ(offers("patcher completion f"), Words{"fish"});
}

TEST_F(Completion, OfBashOffersPathsWhereTheyAreWanted) {
  s.file("one.diff", "");
  s.file("out/two.diff", "");
  const std::string at = s.root().string() + "/o";
  const Words both = {at + "ne.diff", at + "ut"};
  const auto sorted = [](Words words) {
    std::sort(words.begin(), words.end());
    return words;
  };
  EXPECT_EQ(sorted(offers("patcher import " + at)), both);
  EXPECT_EQ(sorted(offers("patcher import a.diff " + at)), both);
  EXPECT_EQ(sorted(offers("patcher check --series " + at)), both);
  EXPECT_EQ(offers("patcher check --root " + at), Words{at + "ut"});
  EXPECT_EQ(offers("patcher check " + at), Words{});
  EXPECT_EQ(offers("patcher import --out"), Words{"--out-dir"});
}

// As bash's own help of `complete` has it, and as the manual's example does it.
TEST_F(Completion, OfBashIsSourcedAsTheManualSays) {
  const std::string example(completion_manual().examples.front());
  EXPECT_TRUE(holds(example, "\nsource <(patcher completion bash)")) << example;
  s.run_plain({"patcher", "completion", "bash"});
  write_bytes(s.directory() / "completion", s.out);
  const std::string file = (s.directory() / "completion").string();
  EXPECT_EQ(words_of("bash", "patcher() { cat '" + file + "'; }\n" +
                                 example.substr(example.find('\n') + 1) + "\ncomplete -p patcher"),
            split("complete -F _patcher patcher"));
}

bool has_shell(const std::string& name) {
  return std::system(("command -v " + name + " >/dev/null").c_str()) == 0;
}

// zsh sorts out the beginnings itself, so that all words of the verb are offered.
TEST_F(Completion, OfZshRunsTheSameFunction) {
  if (!has_shell("zsh")) GTEST_SKIP() << "there is no zsh";
  const auto offered = [&](const std::string& line, const std::string& word) {
    const Words words = offers(line, "zsh -f");
    return std::find(words.begin(), words.end(), word) != words.end();
  };
  EXPECT_TRUE(offered("patcher diff --st", "--stat"));
  EXPECT_FALSE(offered("patcher check --st", "--stat"));
  EXPECT_TRUE(offered("patcher check --format s", "sarif"));
  EXPECT_TRUE(offered("patcher ap", "apply"));
}

TEST_F(Completion, OfFishOffersFilesToImportOnly) {
  ASSERT_EQ(s.run_plain({"patcher", "completion", "fish"}), 0);
  EXPECT_TRUE(s.out.starts_with("complete -c patcher -f\n")) << s.out;
  EXPECT_TRUE(holds(s.out, "\ncomplete -c patcher -n '__fish_seen_subcommand_from import' -F\n"));
  if (!has_shell("fish")) GTEST_SKIP() << "there is no fish";
  write_bytes(s.directory() / "completion", s.out);
  s.file("one.diff", "");
  const std::string at = s.root().string() + "/o";
  const auto offers_fish = [&](const std::string& verb) {
    return words_of("fish", "source '" + (s.directory() / "completion").string() +
                                "'\ncomplete -C 'patcher " + verb + " " + at + "'");
  };
  EXPECT_EQ(offers_fish("import"), Words{at + "ne.diff"});
  EXPECT_EQ(offers_fish("check"), Words{});
}

TEST_F(Completion, OfEveryShellKnowsEveryOption) {
  const std::set<std::string> known = all_options();
  for (const char* shell : {"bash", "zsh", "fish"}) {
    ASSERT_EQ(s.run_plain({"patcher", "completion", shell}), 0);
    for (const std::string& name : known) {
      const std::string written = shell == std::string("fish") ? "-l " + name.substr(2) : name;
      EXPECT_TRUE(holds(s.out, written)) << shell << " " << name;
    }
  }
}

// --- reports for machines

class Formats : public testing::Test {
 protected:
  void SetUp() override {
    s.file("a b.cpp", "void f() {\n  go(1, 2);\n}\nvoid g() {\n  stop();\n  stop();\n}\n");
    s.patch("1.patch", "--- a b.cpp\n+++ a b.cpp\n@@ f @@\n-  go(1, 3);\n+  go(1, 4);\n");
    s.patch("2.patch", "--- a b.cpp\n+++ a b.cpp\n@@ g @@\n-  stop();\n+  go(0, 0);\n");
  }
  Scratch s;
};

TEST_F(Formats, GithubIsOneAnnotationAFinding) {
  EXPECT_EQ(s.run({"check", "--format", "github"}), exit_code(Verdict::kMissing));
  const std::string root = s.root().string();
  EXPECT_TRUE(s.out.starts_with("::error file=" + root +
                                "/a b.cpp,line=2,col=9,title=patcher missing::0 matches"))
      << s.out;
  EXPECT_TRUE(holds(s.out, "\n::error file=" + root + "/a b.cpp,line=5,col=3,")) << s.out;
  EXPECT_TRUE(holds(s.out, "%0Afrom ")) << s.out;
  EXPECT_EQ(std::count(s.out.begin(), s.out.end(), '\n'), 2) << s.out;
}

TEST_F(Formats, GithubEscapesWhatWouldEndAProperty) {
  s.file("x,y:z%.cpp", "int a;\n");
  Scratch t;
  t.file("x,y%.cpp", "int a;\n");
  t.patch("1.patch", "--- x,y%.cpp\n+++ x,y%.cpp\n@@ file @@\n-int c;\n+int d;\n");
  t.run({"check", "--format", "github"});
  EXPECT_TRUE(holds(t.out, "/x%2Cy%25.cpp,line=")) << t.out;
}

TEST_F(Formats, SarifHasRulesPlacesAndCandidates) {
  EXPECT_EQ(s.run({"check", "--format", "sarif"}), exit_code(Verdict::kMissing));
  const auto log = nlohmann::json::parse(s.out);
  EXPECT_EQ(log["version"], "2.1.0");
  const auto& run = log["runs"][0];
  std::set<std::string> rules;
  for (const auto& rule : run["tool"]["driver"]["rules"])
    rules.insert(rule["id"]);
  ASSERT_EQ(run["results"].size(), 2u);
  for (const auto& result : run["results"]) {
    EXPECT_TRUE(rules.contains(result["ruleId"]));
    EXPECT_EQ(result["level"], "error");
    const auto& where = result["locations"][0]["physicalLocation"];
    EXPECT_TRUE(std::string(where["artifactLocation"]["uri"]).ends_with("/tree/a%20b.cpp"));
    EXPECT_GT(where["region"]["startLine"], 1);
  }
  EXPECT_EQ(run["results"][1]["relatedLocations"].size(), 2u);
}

TEST_F(Formats, ASeriesThatIsWrongIsReportedInThemToo) {
  write_bytes(s.patches() / "series", "nope.patch\n");
  EXPECT_EQ(s.run({"check", "--format", "github"}), exit_code(Verdict::kMalformed));
  EXPECT_TRUE(holds(s.out, "/patches/series,line=1,")) << s.out;
  EXPECT_EQ(s.run({"check", "--format", "sarif"}), exit_code(Verdict::kMalformed));
  EXPECT_EQ(nlohmann::json::parse(s.out)["runs"][0]["results"].size(), 1u);
}

TEST_F(Formats, ABrokenEnvironmentIsAnAnnotationWithoutAPlace) {
  s.file("a b.cpp", "void f() {\n  go(1, 3);\n}\nvoid g() {\n  stop();\n}\n");
  EXPECT_EQ(s.run({"check", "--format", "github", "--diffs", "no%\nwhere"}), kExitEnvironment);
  EXPECT_EQ(s.out, "::error title=patcher::no%25%0Awhere: No such file or directory\n");
  EXPECT_TRUE(holds(s.err, "No such file or directory")) << s.err;
  // Not a log without findings, which would read as a tree without any.
  EXPECT_EQ(s.run({"check", "--format", "sarif", "--diffs", "nowhere"}), kExitEnvironment);
  EXPECT_EQ(s.out, "");
}

TEST_F(Formats, DriftOfStoredDiffsIsAnErrorInThem) {
  Scratch t;
  t.file("a.cpp", "int a;\n");
  t.patch("1.patch", "--- a.cpp\n+++ a.cpp\n@@ file @@\n-int a;\n+int b;\n");
  const std::string diffs = (t.directory() / "diffs").string();
  std::filesystem::create_directories(diffs);
  EXPECT_EQ(t.run({"check", "--format", "github", "--diffs", diffs}), kExitDiffsDrifted);
  EXPECT_TRUE(holds(t.out, "::error file=" + diffs + "/1.diff,line=1,")) << t.out;
}

}  // namespace
}  // namespace patcher
