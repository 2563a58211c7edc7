// drift A..B: which of upstream's commits breaks which patch, and why.
#include <nlohmann/json.hpp>

#include "patcher/base/verdict.h"
#include "patcher/drift/drift.h"
#include "patcher/git/history.h"
#include "patcher/series/series.h"
#include "tests/patcher/git_scratch.h"

namespace patcher {
namespace {

using nlohmann::json;
using testing::Test;

// A commit may say any time.
TEST(Day, OfATimeThatNoCalendarHasIsItsSeconds) {
  EXPECT_EQ(day(1'796'028'147), "2026-11-30");
  EXPECT_EQ(day(INT64_MAX), "@9223372036854775807");
  EXPECT_EQ(day(INT64_MIN), "@-9223372036854775808");
}

class DriftCommand : public Test {
 protected:
  void SetUp() override {
    s.file("a.cpp", "int a;\n");
    s.file("b.cpp", "int b;\n");
    s.file("other.cpp", "int other;\n");
    first = s.commit("base");
    s.patch("1.patch", "--- a.cpp\n+++ a.cpp\n@@ file @@\n-int a;\n+int aa;\n");
    s.patch("2.patch",
            "--- a.cpp\n+++ a.cpp\n@@ file @@\n-int aa;\n+int aaa;\n"
            "--- b.cpp\n+++ b.cpp\n@@ file @@\n-int b;\n+int bb;\n");
    s.patch("3.patch", "--- b.cpp\n+++ b.cpp\n@@ file @@\n int bb;\n+int c;\n");
  }
  std::string change(const std::string& path, const std::string& bytes) {
    s.file(path, bytes);
    return s.commit("change " + path);
  }
  json drift(const std::string& range, int code) {
    EXPECT_EQ(s.run({"drift", range, "--json"}), code) << s.err;
    return json::parse(s.out);
  }
  GitScratch s;
  std::string first;
};

TEST_F(DriftCommand, NamesTheFirstCommitThatBreaksEachPatch) {
  change("other.cpp", "int x;\n");
  const std::string breaks = change("b.cpp", "int renamed;\n");
  const std::string last = change("other.cpp", "int y;\n");
  const json j = drift(first + "..main", exit_code(Verdict::kMissing));
  EXPECT_EQ(j["commits"], 3);
  EXPECT_EQ(j["touching"], 1);
  EXPECT_EQ(j["from"], first);
  EXPECT_EQ(j["to"], last);
  EXPECT_EQ(j["patches"][0]["verdict"], "applies");
  EXPECT_TRUE(j["patches"][0]["first_break"].is_null());
  EXPECT_EQ(j["patches"][1]["verdict"], "missing");
  EXPECT_EQ(j["patches"][1]["first_break"], breaks);
  EXPECT_EQ(j["patches"][1]["findings"][0]["file"], "b.cpp");
  // Patch 3 stands on patch 2: none of upstream's lines, but gone with it.
  EXPECT_EQ(j["patches"][2]["first_break"], breaks);
  EXPECT_EQ(j["patches"][2]["events"].size(), 2u);
}

TEST_F(DriftCommand, SaysSinceWhenUpstreamHasTheChange) {
  const std::string taken = change("a.cpp", "int aa;\n");
  change("other.cpp", "int x;\n");
  const json j = drift(first + "..main", exit_code(Verdict::kObsolete));
  EXPECT_EQ(j["patches"][0]["verdict"], "obsolete");
  EXPECT_EQ(j["patches"][0]["obsolete_since"], taken);
  EXPECT_TRUE(j["patches"][0]["first_break"].is_null());
  EXPECT_EQ(j["patches"][1]["verdict"], "applies");
  EXPECT_EQ(s.run({"drift", first + ".."}), exit_code(Verdict::kObsolete));
  EXPECT_TRUE(holds(s.err, "upstream has it since " + taken.substr(0, 12) + ": drop the patch"))
      << s.err;
}

TEST_F(DriftCommand, KeepsTheFirstBreakOfAPatchThatHealed) {
  const std::string breaks = change("a.cpp", "int gone;\n");
  const std::string heals = change("a.cpp", "int a;\n");
  const json j = drift(first + "..main", 0);
  EXPECT_EQ(j["patches"][0]["verdict"], "applies");
  EXPECT_EQ(j["patches"][0]["first_break"], breaks);
  EXPECT_EQ(j["patches"][0]["events"][2]["commit"], heals);
  ASSERT_EQ(s.run({"drift", first + "..main"}), 0);
  EXPECT_TRUE(holds(s.out, "missing        since " + breaks.substr(0, 12))) << s.out;
  EXPECT_TRUE(holds(s.out, "(the first that breaks it)")) << s.out;
  EXPECT_TRUE(holds(s.out, "3 still apply, 0 broken, 0 obsolete")) << s.out;
}

TEST_F(DriftCommand, JudgesAPatchAgainOnlyWhereWhatItIsJudgedOnChanged) {
  for (int i = 0; i < 5; ++i)
    change("other.cpp", std::to_string(i) + "\n");
  change("b.cpp", "int b;\nint more;\n");
  const json j = drift(first + "..main", 0);
  EXPECT_EQ(j["patches"][0]["judged"], 1);
  EXPECT_EQ(j["patches"][1]["judged"], 2);
  EXPECT_EQ(j["patches"][2]["judged"], 2);
}

// The result at every commit is that of a dry run there.
TEST_F(DriftCommand, AgreesWithADryRunAtEveryCommit) {
  const std::vector<std::string> contents = {"int a;\n",         "int a;\nint a;\n", "int aa;\n",
                                             "int b;\nint a;\n", "namespace n {\n",  ""};
  std::vector<std::string> ids;
  for (size_t i = 0; i < 12; ++i) {
    ids.push_back(change(i % 3 == 1 ? "b.cpp" : "a.cpp",
                         contents[(i * 5) % contents.size()] + "// " + std::to_string(i) + "\n"));
  }
  for (const std::string& id : ids) {
    const json walked = drift(first + ".." + id, s.run({"check", "--rev", id}));
    s.run({"check", "--rev", id, "--json"});
    const json there = json::parse(s.out);
    for (size_t p = 0; p < 3; ++p) {
      const std::string verdict = there["patches"][p]["verdict"];
      EXPECT_EQ(walked["patches"][p]["verdict"],
                verdict == "already_applied" ? "obsolete" : verdict);
    }
  }
}

TEST_F(DriftCommand, CountsAMergedBranchAtItsMerge) {
  const std::string side = change("b.cpp", "int renamed;\n");
  GitObject base;
  check_git(git_revparse_single(Receive(base), s.repository(), first.c_str()), first);
  check_git(git_reset(s.repository(), base.get(), GIT_RESET_HARD, nullptr), "reset");
  change("other.cpp", "int x;\n");
  s.file("b.cpp", "int renamed;\n");
  const std::string merge = s.commit("merge", side);
  const json j = drift(first + "..main", exit_code(Verdict::kMissing));
  EXPECT_EQ(j["commits"], 2);
  EXPECT_EQ(j["patches"][1]["first_break"], merge);
  EXPECT_EQ(s.run({"drift", side + "..main"}), kExitEnvironment);
  EXPECT_TRUE(holds(s.err, "is not on the line of first parents")) << s.err;
  EXPECT_TRUE(holds(s.err, "; it left that line at " + first + "\n")) << s.err;
}

TEST_F(DriftCommand, FollowsASubdirectory) {
  GitScratch outer("");
  outer.file("lib/a.cpp", "int a;\n");
  const std::string begin = outer.commit("base");
  outer.file("lib/a.cpp", "int z;\n");
  outer.commit("break");
  outer.patch("1.patch", "--- a.cpp\n+++ a.cpp\n@@ file @@\n-int a;\n+int aa;\n");
  EXPECT_EQ(outer.run_plain({"patcher", "drift", begin + "..main", "--root",
                             (outer.root() / "lib").string(), "--series",
                             (outer.patches() / "series").string()}),
            exit_code(Verdict::kMissing));
}

TEST_F(DriftCommand, MistakesAreNamed) {
  EXPECT_EQ(s.run({"drift"}), kExitUsage);
  EXPECT_EQ(s.run({"check", "a..b"}), kExitUsage);
  EXPECT_EQ(s.run({"drift", "main"}), kExitEnvironment);
  EXPECT_EQ(s.run({"drift", "main...main"}), kExitEnvironment);
  EXPECT_EQ(s.run({"drift", "nowhere..main"}), kExitEnvironment);
  EXPECT_TRUE(holds(s.err, "nowhere: there is no such revision")) << s.err;
  EXPECT_EQ(s.run({"drift", "main..HEAD^{tree}"}), kExitEnvironment);
  EXPECT_TRUE(holds(s.err, "is no commit")) << s.err;
  s.patch("4.patch", "nonsense\n");
  EXPECT_EQ(s.run({"drift", "main..main"}), exit_code(Verdict::kMalformed));
}

}  // namespace
}  // namespace patcher
