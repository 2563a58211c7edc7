// check and apply with --base: a patch that applies must mean what it meant where it was made.
#include <nlohmann/json.hpp>

#include "tests/patcher/git_scratch.h"

namespace patcher {
namespace {

namespace fs = std::filesystem;

constexpr const char* kBase =
    "int helper(int x) {\n  return x;\n}\n\nint f(int x) {\n  first(x);\n  return x;\n}\n";
constexpr const char* kHelperGone = "int f(int x) {\n  first(x);\n  return x;\n}\n";
constexpr const char* kHelperTakesTwo =
    "int helper(int x, int y) {\n  return x;\n}\n\nint f(int x) {\n  first(x);\n  return x;\n}\n";
constexpr const char* kCallsHelper =
    "--- a.cpp\n+++ a.cpp\n@@ f @@\n   first(x);\n+  helper(x);\n   return x;\n";

class BaseCheck : public testing::Test {
 protected:
  fs::path base() const { return s_.directory() / "base"; }

  void file(const std::string& path, const std::string& before, const std::string& now) {
    write_bytes(base() / path, before);
    s_.file(path, now);
  }

  int run(const std::string& verb, std::vector<std::string> more = {}) {
    more.insert(more.begin(), {verb, "--base", base().string()});
    return s_.run(more);
  }

  std::vector<std::string> verdicts() {
    run("check", {"--json"});
    std::vector<std::string> out;
    const auto report = nlohmann::json::parse(s_.out);
    for (const auto& p : report["patches"])
      out.push_back(p["verdict"]);
    return out;
  }

  GitScratch s_;
};

TEST_F(BaseCheck, RefusesANameThatIsGone) {
  file("a.cpp", kBase, kHelperGone);
  s_.patch("1.patch", kCallsHelper);
  EXPECT_EQ(s_.run({"check"}), 0) << "the patch by itself has its place: " << s_.err;
  EXPECT_EQ(run("check"), 12);
  EXPECT_TRUE(holds(s_.err, "a.cpp:3:1: error: missing: lost_name: an added line uses `helper`"))
      << s_.err;
  EXPECT_TRUE(holds(s_.err, "from 1.patch:7")) << s_.err;
  EXPECT_EQ(run("apply"), 12);
  EXPECT_EQ(s_.bytes("a.cpp"), kHelperGone);
}

// Another function has a variable of that name: it is not lost in the file, but here.
TEST_F(BaseCheck, RefusesAVariableThatTheFunctionHasNoMore) {
  const std::string other = "int g(int port) {\n  return port;\n}\n\n";
  file("a.cpp", other + "int f(int x) {\n  int port = x;\n  first(port);\n  return x;\n}\n",
       other + "int f(int x) {\n  first(x);\n  last(x);\n  return x;\n}\n");
  s_.patch("1.patch", "--- a.cpp\n+++ a.cpp\n@@ f @@\n+  note(port);\n   return x;\n");
  EXPECT_EQ(s_.run({"check"}), 0) << s_.err;
  EXPECT_EQ(run("check"), 12);
  EXPECT_TRUE(holds(s_.err, "an added line uses `port`, which the function does not have there"))
      << s_.err;
}

TEST_F(BaseCheck, RefusesAFunctionThatUpstreamHasAddedToo) {
  file("a.cpp", kBase, "int late(int x) {\n  return 7;\n}\n\n" + std::string(kBase));
  s_.patch("1.patch",
           "--- a.cpp\n+++ a.cpp\n@@ file @@\n   first(x);\n   return x;\n }\n+\n"
           "+int late(int x) {\n+  return x;\n+}\n");
  EXPECT_EQ(s_.run({"check"}), 0) << s_.err;
  EXPECT_EQ(run("check"), 20);
  EXPECT_TRUE(holds(s_.err, "collision: the patch adds `late(int)`")) << s_.err;
}

TEST_F(BaseCheck, RefusesAStatementThatUpstreamHasAddedToo) {
  file("a.cpp", "int f(int x) {\n  one(x);\n  two(x);\n  last(x);\n  return x;\n}\n",
       "int f(int x) {\n  note(x, 7);\n  one(x);\n  two(x);\n  last(x);\n  return x;\n}\n");
  s_.patch("1.patch", "--- a.cpp\n+++ a.cpp\n@@ f @@\n   last(x);\n+  note(x, 7);\n   return x;\n");
  EXPECT_EQ(s_.run({"check"}), 0) << s_.err;
  EXPECT_EQ(run("check"), 20);
  EXPECT_TRUE(holds(s_.err, "collision: the tree has the added lines of its own by now")) << s_.err;
}

// Upstream has removed what the patch changes, and what is beside it looks like the patch's result.
TEST_F(BaseCheck, DoesNotTakeASiblingForTheAppliedPatch) {
  const auto entry = [](const std::string& name, const std::string& flags) {
    return "    {\n        .name = \"" + name + "\",\n        .run = any,\n" + flags + "    },\n";
  };
  const std::string head = "static const struct op ops[] = {\n";
  const std::string get = entry("get", "        .flags = WRITE,\n");
  const std::string put = entry("put", "");
  file("t.c", head + get + put + "};\n", head + get + "};\n");
  s_.patch("1.diff",
           "--- a/t.c\n+++ b/t.c\n@@ -8,3 +8,4 @@\n         .run = any,\n+        .flags = WRITE,\n"
           "     },\n };\n");
  EXPECT_EQ(run("check"), 12) << s_.err;
  EXPECT_TRUE(holds(s_.err, "what the patch makes is there, but: ")) << s_.err;
  s_.file("t.c", head + get + entry("put", "        .flags = WRITE,\n") + "};\n");
  EXPECT_EQ(run("check"), 0) << s_.err;
}

// A member of a type that another file defines: the whole tree says whether it is gone.
TEST_F(BaseCheck, RefusesANameThatNoFileHasAnyMore) {
  const std::string body = "int f(params p) {\n  first(p);\n  return 0;\n}\n";
  file("p.h", "struct params {\n  int old_field;\n};\n", "struct params {\n  int other;\n};\n");
  file("a.cpp", "int g(params p) {\n  return p.old_field;\n}\n" + body, body);
  s_.patch("1.patch",
           "--- a.cpp\n+++ a.cpp\n@@ f @@\n   first(p);\n+  last(p.old_field);\n   return 0;\n");
  EXPECT_EQ(s_.run({"check"}), 0) << s_.err;
  EXPECT_EQ(run("check"), 12);
  EXPECT_TRUE(holds(s_.err, "lost_name: an added line uses `old_field`")) << s_.err;
  // What is only a part of a tree does not say.
  std::filesystem::remove(s_.root() / "p.h");
  EXPECT_EQ(run("check"), 0) << s_.err;
  // Still there, if in another file than the one that is patched.
  s_.file("p.h", "struct params {\n  int old_field;\n};\n");
  EXPECT_EQ(run("check"), 0) << s_.err;
}

// The function is defined in a file that the patch does not name: how it is called says enough.
TEST_F(BaseCheck, RefusesACallThatNobodyMakesSoAnyMore) {
  const std::string tail = "int f(int x) {\n  first(x);\n  return x;\n}\n";
  const std::string old = "int g(int x) {\n  return build(x, 1);\n}\n" + tail;
  const std::string now = "int g(int x) {\n  return build(x, 1, h(2, a[3]));\n}\n" + tail;
  file("a.cpp", old, now);
  s_.patch("1.patch",
           "--- a.cpp\n+++ a.cpp\n@@ f @@\n   first(x);\n+  build(x, h(1, a[2]));\n   return x;\n");
  EXPECT_EQ(s_.run({"check"}), 0) << s_.err;
  EXPECT_EQ(run("check"), 12);
  EXPECT_TRUE(holds(s_.err, "lost_name: `build` takes other parameters now")) << s_.err;
  // Called in both ways: nothing is known.
  s_.file("a.cpp", "int k(int x) {\n  return build(x, 2);\n}\n" + now);
  EXPECT_EQ(run("check"), 0) << s_.err;
}

// A name that the patch declares itself may well be one that was there.
TEST_F(BaseCheck, KnowsThePatchsOwnNames) {
  const std::string body = "int f(params p) {\n  first(p);\n  return 0;\n}\n";
  file("a.cpp", "int g(params p) {\n  int left = 1;\n  return left;\n}\n" + body, body);
  s_.patch("1.patch",
           "--- a.cpp\n+++ a.cpp\n@@ f @@\n   first(p);\n+  int left = 1;\n+  use(left);\n   "
           "return 0;\n");
  EXPECT_EQ(run("check"), 0) << s_.err;
}

TEST_F(BaseCheck, RefusesACallWhoseParametersChanged) {
  file("a.cpp", kBase, kHelperTakesTwo);
  s_.patch("1.patch", kCallsHelper);
  EXPECT_EQ(run("check"), 12);
  EXPECT_TRUE(holds(s_.err, "`helper` takes other parameters now")) << s_.err;
}

TEST_F(BaseCheck, AppliesWhatMeansTheSameAndKnowsItAgain) {
  const std::string now = "int g();\n\n" + std::string(kBase);
  file("a.cpp", kBase, now);
  s_.patch("1.patch", kCallsHelper);
  s_.patch("2.patch", "--- a.cpp\n+++ a.cpp\n@@ f @@\n-  helper(x);\n+  helper(-x);\n");
  ASSERT_EQ(run("apply"), 0) << s_.err;
  EXPECT_TRUE(holds(s_.bytes("a.cpp"), "  first(x);\n  helper(-x);\n"));
  const Tree applied = read_tree(s_.root());
  EXPECT_EQ(verdicts(), (std::vector<std::string>{"already_applied", "already_applied"}));
  EXPECT_EQ(run("apply"), 0) << s_.err;
  EXPECT_EQ(read_tree(s_.root()), applied);
}

// What is applied is judged no more: nothing would be gained by refusing it.
TEST_F(BaseCheck, LeavesAppliedPatchesAlone) {
  file("a.cpp", kBase, "int f(int x) {\n  first(x);\n  helper(x);\n  return x;\n}\n");
  s_.patch("1.patch", kCallsHelper);
  EXPECT_EQ(verdicts(), (std::vector<std::string>{"already_applied"})) << s_.err;
}

// The name that patch 2 uses is patch 1's: the base of patch 2 has it, and so has its target.
TEST_F(BaseCheck, JudgesEachPatchOnTheResultOfThoseBefore) {
  file("a.cpp", kHelperGone, "int g();\n\n" + std::string(kHelperGone));
  s_.patch("1.patch",
           "--- a.cpp\n+++ a.cpp\n@@ file @@\n+int helper(int x) {\n+  return x;\n+}\n+\n"
           " int f(int x) {\n");
  s_.patch("2.patch", kCallsHelper);
  EXPECT_EQ(verdicts(), (std::vector<std::string>{"applies", "applies"})) << s_.err;
}

TEST_F(BaseCheck, SaysWhereCarryWouldPlaceWhatHasNoPlace) {
  file("a.cpp", "int f(int x) {\n  first(x);\n  last(x);\n  return x;\n}\n",
       "int f(int x) {\n  first(x);\n  more(x);\n  return x;\n}\n");
  s_.patch("1.patch", "--- a.cpp\n+++ a.cpp\n@@ f @@\n   first(x);\n+  second(x);\n   last(x);\n");
  const Tree before = read_tree(s_.root());
  EXPECT_EQ(run("apply"), 12) << "placing is carry's";
  EXPECT_EQ(read_tree(s_.root()), before);
  EXPECT_TRUE(holds(s_.err, "hint: carry would place it at a.cpp:3: patcher carry --base " +
                                base().string() + " --root " + s_.root().string()))
      << s_.err;
  file("a.cpp", "int f(int x) {\n  first(x);\n  last(x);\n  return x;\n}\n", "int g();\n");
  EXPECT_EQ(run("check"), 12);
  EXPECT_TRUE(holds(s_.err,
                    "hint: carry would refuse it too: a.cpp: the changed lines are not in "
                    "`f(int)` any more"))
      << s_.err;
}

// Its place is found by what the base's line numbers say, which the tree alone cannot know.
TEST_F(BaseCheck, DoesNotTakeAnAnchorThatHasBecomeUniqueForThePlace) {
  const std::string three = "int f(int x) {\n  step(x);\n  step(x);\n  step(x);\n  return x;\n}\n";
  file("a.cpp", three, "int f(int x) {\n  step(x);\n  return x;\n}\n");
  write_bytes(s_.patches() / "1.diff",
              "--- a/a.cpp\n+++ b/a.cpp\n@@ -3,1 +3,1 @@ int f(int x) {\n-  step(x);\n"
              "+  leap(x);\n");
  write_bytes(s_.patches() / "series", "1.diff\n");
  EXPECT_EQ(s_.run({"check"}), 0) << s_.err;
  EXPECT_NE(run("check"), 0) << s_.out;
}

TEST_F(BaseCheck, TellsEveryReader) {
  file("a.cpp", kBase, kHelperGone);
  s_.patch("1.patch", kCallsHelper);
  EXPECT_EQ(run("check", {"--format", "github"}), 12);
  EXPECT_TRUE(holds(s_.out, "a.cpp,line=3,col=1,title=patcher missing::lost_name")) << s_.out;
  EXPECT_EQ(run("check", {"--format", "sarif"}), 12);
  const auto sarif = nlohmann::json::parse(s_.out);
  const auto& results = sarif["runs"][0]["results"];
  ASSERT_EQ(results.size(), 1u);
  EXPECT_EQ(results[0]["ruleId"], "missing");
  EXPECT_EQ(verdicts(), (std::vector<std::string>{"missing"}));
}

TEST_F(BaseCheck, JudgesARevisionAndCommits) {
  file("a.cpp", kBase, kHelperGone);
  s_.commit("upstream");
  s_.file("a.cpp", kBase);
  s_.patch("1.patch", kCallsHelper);
  EXPECT_EQ(run("check"), 0) << s_.err;
  EXPECT_EQ(run("check", {"--rev", "HEAD"}), 12);
  const std::string head = s_.id_of("HEAD");
  EXPECT_EQ(run("apply", {"--commit", "--branch", "patched"}), 12);
  EXPECT_EQ(s_.id_of("patched"), "(none)");
  EXPECT_EQ(s_.id_of("HEAD"), head);
}

TEST_F(BaseCheck, NeedsTheSeriesOwnBase) {
  file("a.cpp", "int g();\n", kBase);
  s_.patch("1.patch", kCallsHelper);
  EXPECT_EQ(run("check"), 12);
  EXPECT_TRUE(holds(s_.err, "does not apply to its own base")) << s_.err;
  EXPECT_EQ(run("check", {"--format", "github"}), 12);
  EXPECT_TRUE(holds(s_.out, "file=" + (base() / "a.cpp").string())) << s_.out;
}

// Both trees are revisions of one repository, of which nothing is checked out.
TEST_F(BaseCheck, TakesTheBaseFromARevision) {
  s_.file("a.cpp", kBase);
  const std::string old = s_.commit("has helper");
  s_.file("a.cpp", kHelperGone);
  s_.commit("has not");
  s_.patch("1.patch", kCallsHelper);
  EXPECT_EQ(s_.run({"check"}), 0) << s_.err;
  EXPECT_EQ(s_.run({"check", "--base-rev", "main~1"}), 12);
  EXPECT_TRUE(holds(s_.err, "lost_name: an added line uses `helper`")) << s_.err;
  EXPECT_TRUE(holds(s_.out, "base main~1 (" + old.substr(0, 12) + ") has helper\n")) << s_.out;
  EXPECT_EQ(s_.run({"check", "--base-rev", "main~1", "--rev", "main~1"}), 0) << s_.err;
  EXPECT_EQ(s_.run({"apply", "--base-rev", "main~1"}), 12);
  EXPECT_EQ(s_.run({"check", "--json", "--base-rev", old}), 12);
  EXPECT_EQ(nlohmann::json::parse(s_.out)["base_rev"]["commit"], old);
  EXPECT_EQ(s_.run({"check", "--base-rev", "nowhere"}), 3);
  EXPECT_TRUE(holds(s_.err, "nowhere")) << s_.err;
  // Of another repository's directory than the tree's.
  const std::string bare = s_.bare().string();
  EXPECT_EQ(s_.run({"check", "--base", bare, "--base-rev", "main~1"}), 12);
  EXPECT_EQ(s_.run({"check", "--base", bare, "--base-rev", "main"}), 0)
      << "a call of what its base does not have either is the series' own: " << s_.err;
}

TEST_F(BaseCheck, HintsWithTheRevisionThatItWasGiven) {
  s_.file("a.cpp", "int f(int x) {\n  first(x);\n  last(x);\n  return x;\n}\n");
  s_.commit("first");
  s_.file("a.cpp", "int f(int x) {\n  first(x);\n  more(x);\n  return x;\n}\n");
  s_.patch("1.patch", "--- a.cpp\n+++ a.cpp\n@@ f @@\n   first(x);\n+  second(x);\n   last(x);\n");
  EXPECT_EQ(s_.run({"check", "--base-rev", "main"}), 12);
  const std::string carry = "patcher carry --base-rev main --root " + s_.root().string();
  EXPECT_TRUE(holds(s_.err, "hint: carry would place it at a.cpp:3: " + carry)) << s_.err;
  const std::string out = (s_.directory() / "carried").string();
  EXPECT_EQ(s_.run({"carry", "--base-rev", "main", "--out-dir", out}), 0) << s_.err;
  EXPECT_TRUE(holds(s_.out, "base main (")) << s_.out;
}

TEST_F(BaseCheck, SaysWhatIsWrongWithTheCommandLine) {
  file("a.cpp", kBase, kBase);
  s_.patch("1.patch", kCallsHelper);
  EXPECT_EQ(s_.run({"check", "--base", (base() / "none").string()}), 3);
  EXPECT_TRUE(holds(s_.err, "none: No such file or directory")) << s_.err;
  EXPECT_EQ(s_.run({"apply", "--base", (base() / "a.cpp").string()}), 3);
  EXPECT_TRUE(holds(s_.err, "a.cpp: Not a directory")) << s_.err;
  for (const char* verb : {"revert", "diff"}) {
    EXPECT_EQ(run(verb), 2) << verb;
    EXPECT_TRUE(holds(s_.err, "which belongs to check, apply, import, carry")) << s_.err;
  }
}

}  // namespace
}  // namespace patcher
