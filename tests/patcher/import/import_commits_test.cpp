// import REV and import A..B: commits as anchored patches that make exactly their change.
#include "patcher/base/verdict.h"
#include "tests/patcher/git_scratch.h"

namespace patcher {
namespace {

namespace fs = std::filesystem;
using testing::Test;

class ImportCommits : public Test {
 protected:
  void SetUp() override {
    s.file("a.cpp", "int f() {\n  one();\n  two();\n}\n\nint g() {\n  one();\n  two();\n}\n");
    s.file("old.cpp", "int old;\n");
    base = s.commit("base");
    s.file("a.cpp", "int f() {\n  one();\n  two();\n}\n\nint g() {\n  one();\n  three();\n}\n");
    first = s.commit("Call three in g\n\nTwo is gone.\n\ndiff --git a/x b/x\n");
    s.file("new.h", "int n;\n");
    fs::remove(s.root() / "old.cpp");
    second = s.commit("Move on");
    out = s.directory() / "made";
  }
  int import(const std::string& spec) {
    return s.run_plain(
        {"patcher", "import", spec, "--root", s.root().string(), "--out-dir", out.string()});
  }
  void reset_to(const std::string& rev) {
    GitObject commit;
    check_git(git_revparse_single(Receive(commit), s.repository(), rev.c_str()), rev);
    check_git(git_reset(s.repository(), commit.get(), GIT_RESET_HARD, nullptr), "reset");
  }
  // What the written series makes of `rev`, as a tree id: that of the commit it was taken from.
  std::string result_on(const std::string& rev) {
    s.configure("user.name", "A");
    s.configure("user.email", "a@example.org");
    reset_to(rev);
    EXPECT_EQ(s.run_plain({"patcher", "apply", "--commit", "--root", s.root().string(), "--series",
                           (out / "series").string()}),
              0)
        << s.err;
    return s.id_of("HEAD^{tree}");
  }
  GitScratch s;
  std::string base, first, second;
  fs::path out;
};

TEST_F(ImportCommits, OfOneCommitMakeItsChange) {
  const std::string want = s.id_of(first + "^{tree}");
  ASSERT_EQ(import(first), 0) << s.err;
  const std::string text = read_bytes(out / "0001-call-three-in-g.patch");
  EXPECT_TRUE(holds(text, "Subject: Call three in g\n")) << text;
  EXPECT_TRUE(holds(text, "Why: Two is gone.\n")) << text;
  EXPECT_TRUE(holds(text, "@@ g")) << text;
  EXPECT_EQ(result_on(base), want);
}

TEST_F(ImportCommits, OfARangeMakeAllOfItsChanges) {
  const std::string want = s.id_of(second + "^{tree}");
  ASSERT_EQ(import(base + ".." + second), 0) << s.err;
  const Tree once = read_tree(out);
  EXPECT_TRUE(once.contains("0002-move-on.patch"));
  EXPECT_EQ(result_on(base), want);
  fs::remove_all(out);
  ASSERT_EQ(import(base + ".." + second), 0);
  EXPECT_EQ(read_tree(out), once);
}

TEST_F(ImportCommits, OfAMergeIsWhatItBrought) {
  reset_to(first);
  s.file("new.h", "int n;\n");
  const std::string merge = s.commit("Merge", second);
  const std::string want = s.id_of(merge + "^{tree}");
  ASSERT_EQ(import(merge), 0) << s.err;
  EXPECT_EQ(result_on(first), want);
}

// main has commits of its own since the branch, `second`, left it.
TEST_F(ImportCommits, OfABranchAreThoseThatTheOtherHasNot) {
  const std::string want = s.id_of(second + "^{tree}");
  reset_to(base);
  s.file("upstream.cpp", "int u;\n");
  s.commit("upstream moves on");
  ASSERT_EQ(import("main.." + second), 0) << s.err;
  EXPECT_EQ(read_bytes(out / "series"), "0001-call-three-in-g.patch\n0002-move-on.patch\n");
  EXPECT_EQ(result_on(base), want);
}

// What the branch took from main is on main, and the commit that took it is the branch's.
TEST_F(ImportCommits, OfABranchThatMergedMainAreItsOwn) {
  reset_to(base);
  s.file("upstream.cpp", "int u;\n");
  const std::string upstream = s.commit("upstream moves on");
  reset_to(second);
  s.file("upstream.cpp", "int u;\n");
  s.commit("Merge main", upstream);
  s.file("new.h", "int m;\n");
  const std::string mine = s.commit("After the merge");
  ASSERT_EQ(import(upstream + ".." + mine), 0) << s.err;
  EXPECT_EQ(read_bytes(out / "series"),
            "0001-call-three-in-g.patch\n0002-move-on.patch\n0003-merge-main.patch\n"
            "0004-after-the-merge.patch\n");
}

TEST_F(ImportCommits, OfBranchesWithNothingInCommonAreRefused) {
  check_git(git_repository_set_head(s.repository(), "refs/heads/alone"), "head");
  const std::string alone = s.commit("Alone");
  EXPECT_EQ(import("main.." + alone), kExitEnvironment);
  EXPECT_TRUE(holds(s.err, "shares no commit with")) << s.err;
  EXPECT_EQ(import("alone..main"), kExitEnvironment);
  EXPECT_TRUE(holds(s.err, "shares no commit with")) << s.err;
  // All that the branch has, main has too.
  EXPECT_EQ(import("main.." + base), kExitEnvironment);
  EXPECT_TRUE(holds(s.err, "holds no commit")) << s.err;
}

TEST_F(ImportCommits, WhatIsNoPatchIsRefusedByNameAndNothingIsWritten) {
  fs::create_symlink("a.cpp", s.root() / "link.cpp");
  const std::string link = s.commit("Add a link");
  EXPECT_NE(import(link), 0);
  EXPECT_TRUE(holds(s.err, "link.cpp")) << s.err;
  EXPECT_FALSE(fs::exists(out));
  EXPECT_EQ(import("nowhere"), kExitEnvironment);
  EXPECT_TRUE(holds(s.err, "nowhere: there is no such revision")) << s.err;
  EXPECT_EQ(import("0001-missing.patch"), kExitEnvironment);
  EXPECT_TRUE(holds(s.err, "cannot read the patch")) << s.err;
  EXPECT_EQ(import(second + ".." + second), kExitEnvironment);
  EXPECT_TRUE(holds(s.err, "holds no commit")) << s.err;
}

TEST(ImportCommitsBelow, RefuseFilesOutsideOfTheRoot) {
  GitScratch s("");
  s.file("lib/a.cpp", "int a;\n");
  s.commit("base");
  s.file("lib/a.cpp", "int b;\n");
  const std::string inside = s.commit("inside");
  s.file("docs.md", "d\n");
  const std::string outside = s.commit("outside");
  const auto import = [&](const std::string& spec) {
    return s.run_plain({"patcher", "import", spec, "--root", (s.root() / "lib").string(),
                        "--out-dir", (s.directory() / "made").string()});
  };
  EXPECT_EQ(import(outside), exit_code(Verdict::kUnsafePath));
  EXPECT_TRUE(holds(s.err, "lies outside of tree/lib/")) << s.err;
  ASSERT_EQ(import(inside), 0) << s.err;
  EXPECT_TRUE(holds(read_bytes(s.directory() / "made/0001-inside.patch"), "--- a.cpp\n"));
}

// The diff is of the base, and the files have moved on.
TEST_F(ImportCommits, ADiffIsImportedOntoARevision) {
  const fs::path diff = s.directory() / "1.diff";
  write_bytes(diff,
              "--- a/a.cpp\n+++ b/a.cpp\n@@ -6,4 +6,4 @@\n int g() {\n   one();\n-  two();\n"
              "+  four();\n }\n");
  const auto import_on = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"patcher", "import", diff.string(), "--root", s.root().string(),
                               "--out-dir", out.string()});
    return s.run_plain(more);
  };
  EXPECT_EQ(import_on({}), exit_code(Verdict::kMissing)) << s.err;
  ASSERT_EQ(import_on({"--base-rev", base}), 0) << s.err;
  EXPECT_TRUE(holds(s.out, "base " + base + " (")) << s.out;
  EXPECT_TRUE(holds(read_bytes(out / "1.patch"), "+  four();"));
  EXPECT_EQ(s.run_plain({"patcher", "import", base + ".." + first, "--base-rev", base, "--root",
                         s.root().string(), "--out-dir", out.string()}),
            kExitUsage);
  EXPECT_TRUE(holds(s.err, "--base-rev is for files")) << s.err;
}

}  // namespace
}  // namespace patcher
