// apply --commit: one commit a patch, all of them or none.
#include <sys/stat.h>

#include <nlohmann/json.hpp>

#include "patcher/base/verdict.h"
#include "tests/patcher/git_scratch.h"

namespace patcher {
namespace {

namespace fs = std::filesystem;
using testing::Test;

class CommitSeries : public Test {
 protected:
  void SetUp() override {
    s.file("in/a.cpp", "int a;\n");
    s.file("b.cpp", "int b;\n");
    s.file("mine.txt", "mine\n");
    base = s.commit("base");
    s.configure("user.name", "A. Patcher");
    s.configure("user.email", "a@example.org");
    write_bytes(s.patches() / "new.h", "int n;\n");
    write_bytes(s.patches() / "b.cpp", "int b;\n");
    s.patch("1.patch", "--- in/a.cpp\n+++ in/a.cpp\n@@ file @@\n-int a;\n+int aa;\n");
    s.patch("2.patch", "install: new.h -> made/new.h\ndelete: b.cpp\n");
  }
  // HEAD, index and work tree agree but for what is not the series'.
  size_t status_entries() {
    git_status_list* list = nullptr;
    git_status_options options = GIT_STATUS_OPTIONS_INIT;
    options.flags = GIT_STATUS_OPT_INCLUDE_UNTRACKED;
    check_git(git_status_list_new(&list, s.repository(), &options), "status");
    const size_t n = git_status_list_entrycount(list);
    git_status_list_free(list);
    return n;
  }
  void refused(const std::string& why) {
    const Tree before = read_tree(s.root() / "in");
    EXPECT_EQ(s.run({"apply", "--commit"}), kExitEnvironment) << s.out;
    EXPECT_TRUE(holds(s.err, why)) << s.err;
    EXPECT_EQ(s.id_of("HEAD"), base);
    EXPECT_EQ(read_tree(s.root() / "in"), before);
    EXPECT_FALSE(fs::exists(s.root() / "made"));
  }
  GitScratch s;
  std::string base;
};

TEST_F(CommitSeries, MakesOneCommitAPatchOnTheBranchThatIsCheckedOut) {
  ASSERT_EQ(s.run({"apply", "--commit"}), 0) << s.err;
  EXPECT_TRUE(holds(s.out, "2 commits on main, the last is " + s.id_of("main").substr(0, 12)))
      << s.out;
  EXPECT_EQ(s.id_of("main~2"), base);
  EXPECT_EQ(s.message_of("main~1"), "1.patch\n\ntest\n");
  EXPECT_EQ(s.blob("main~1:in/a.cpp"), "int aa;\n");
  EXPECT_EQ(s.blob("main~1:b.cpp"), "int b;\n");
  EXPECT_EQ(s.blob("main:made/new.h"), "int n;\n");
  EXPECT_EQ(s.blob("main:b.cpp"), "(none)");
  EXPECT_EQ(s.bytes("in/a.cpp"), "int aa;\n");
  EXPECT_FALSE(fs::exists(s.root() / "b.cpp"));
  EXPECT_EQ(status_entries(), 0u);
  ASSERT_EQ(s.run({"apply", "--commit"}), 0) << s.err;
  EXPECT_TRUE(holds(s.out, "nothing to do")) << s.out;
  EXPECT_EQ(s.id_of("main~2"), base);
}

TEST_F(CommitSeries, SaysASubjectThatIsAllOnce) {
  write_bytes(s.patches() / "1.patch",
              "From: A <a@example.org>\nSubject: [PATCH] Only this\n\n---\n"
              "--- a/in/a.cpp\n+++ b/in/a.cpp\n@@ -1 +1 @@\n-int a;\n+int aa;\n");
  write_bytes(s.patches() / "series", "1.patch\n");
  ASSERT_EQ(s.run({"apply", "--commit"}), 0) << s.err;
  EXPECT_EQ(s.message_of("main"), "Only this\n");
}

TEST_F(CommitSeries, LeavesTheWorkTreeAloneOnANewBranch) {
  s.file("in/a.cpp", "int dirty;\n");
  ASSERT_EQ(s.run({"apply", "--commit", "--branch", "patched", "--json"}), 0) << s.err;
  const auto j = nlohmann::json::parse(s.out);
  EXPECT_EQ(j["commit"]["branch"], "patched");
  EXPECT_EQ(j["commit"]["commits"].size(), 2u);
  EXPECT_EQ(j["commit"]["commits"][1], s.id_of("patched"));
  EXPECT_EQ(j["written"], 0);
  EXPECT_EQ(s.id_of("main"), base);
  EXPECT_EQ(s.id_of("patched~2"), base);
  EXPECT_EQ(s.bytes("in/a.cpp"), "int dirty;\n");
  EXPECT_EQ(s.run({"apply", "--commit", "--branch", "patched"}), kExitEnvironment);
  EXPECT_TRUE(holds(s.err, "the branch patched exists already")) << s.err;
  EXPECT_EQ(s.run({"apply", "--commit", "--branch", "no..name"}), kExitEnvironment);
  EXPECT_TRUE(holds(s.err, "is no name for a branch")) << s.err;
}

TEST_F(CommitSeries, CommitsInABareRepositoryAndInASubdirectory) {
  const std::string bare = s.bare().string();
  const std::string series = (s.patches() / "series").string();
  EXPECT_EQ(s.run_plain({"patcher", "apply", "--commit", "--root", bare, "--series", series}),
            kExitEnvironment);
  EXPECT_TRUE(holds(s.err, "name a new branch with --branch")) << s.err;
  setenv("GIT_AUTHOR_NAME", "Env", 1);
  setenv("GIT_AUTHOR_EMAIL", "env@example.org", 1);
  setenv("GIT_COMMITTER_NAME", "Env", 1);
  setenv("GIT_COMMITTER_EMAIL", "env@example.org", 1);
  EXPECT_EQ(s.run_plain({"patcher", "apply", "--commit", "--branch", "p", "--root", bare,
                         "--series", series}),
            0)
      << s.err;
  for (const char* name :
       {"GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL"})
    unsetenv(name);
  write_bytes(s.patches() / "1.patch",
              "Subject: s\nWhy: w\n--- a.cpp\n+++ a.cpp\n@@ file @@\n-int a;\n+int aa;\n");
  EXPECT_EQ(s.run_plain({"patcher", "apply", "--commit", "--until", "1", "--root",
                         (s.root() / "in").string(), "--series", series}),
            0)
      << s.err;
  EXPECT_EQ(s.blob("main:in/a.cpp"), "int aa;\n");
  EXPECT_EQ(status_entries(), 0u);
}

TEST_F(CommitSeries, ARefusedPatchCommitsNothing) {
  s.patch("3.patch", "--- in/a.cpp\n+++ in/a.cpp\n@@ file @@\n-int nope;\n+int x;\n");
  EXPECT_EQ(s.run({"apply", "--commit"}), exit_code(Verdict::kMissing));
  EXPECT_EQ(s.id_of("HEAD"), base);
  EXPECT_EQ(s.run({"apply", "--commit", "--branch", "p"}), exit_code(Verdict::kMissing));
  EXPECT_EQ(s.id_of("p"), "(none)");
}

TEST_F(CommitSeries, StagedChangesRefuse) {
  s.file("mine.txt", "other\n");
  GitIndex index;
  check_git(git_repository_index(Receive(index), s.repository()), "index");
  check_git(git_index_add_bypath(index.get(), "mine.txt"), "add");
  check_git(git_index_write(index.get()), "write");
  refused("mine.txt: has staged changes");
}

TEST_F(CommitSeries, ChangesOfAFileThatAPatchChangesRefuse) {
  s.file("in/a.cpp", "int a;\n// mine\n");
  refused("in/a.cpp: differs from HEAD");
  s.file("in/a.cpp", "int a;\n");
  chmod((s.root() / "in/a.cpp").c_str(), 0755);
  refused("in/a.cpp: differs from HEAD");
}

TEST_F(CommitSeries, OtherChangesStay) {
  s.file("mine.txt", "other\n");
  s.file("untracked.txt", "u\n");
  ASSERT_EQ(s.run({"apply", "--commit"}), 0) << s.err;
  EXPECT_EQ(s.bytes("mine.txt"), "other\n");
  EXPECT_EQ(s.blob("main:mine.txt"), "mine\n");
  EXPECT_EQ(status_entries(), 2u);
}

TEST_F(CommitSeries, WithoutANameItSaysWhatToSet) {
  s.configure("user.email", "");
  setenv("HOME", "/nonexistent", 1);
  setenv("XDG_CONFIG_HOME", "/nonexistent", 1);
  refused("set user.email (git config user.email ADDRESS)");
}

TEST_F(CommitSeries, ALockedBranchRefusesAndTheTreeIsAsBefore) {
  write_bytes(s.root() / ".git/refs/heads/main.lock", "");
  refused("refs/heads/main");
}

TEST_F(CommitSeries, ALockedIndexTakesTheFilesBack) {
  write_bytes(s.root() / ".git/index.lock", "");
  refused("index");
  EXPECT_EQ(s.bytes("in/a.cpp"), "int a;\n");
  EXPECT_EQ(s.bytes("b.cpp"), "int b;\n");
}

// As a run leaves things that was killed after it wrote the files: the next one finishes.
TEST_F(CommitSeries, FinishesWhatACutOffRunBegan) {
  s.file("in/a.cpp", "int aa;\n");
  s.file("made/new.h", "int n;\n");
  GitIndex index;
  check_git(git_repository_index(Receive(index), s.repository()), "index");
  check_git(git_index_add_bypath(index.get(), "in/a.cpp"), "add");
  check_git(git_index_write(index.get()), "write");
  ASSERT_EQ(s.run({"apply", "--commit"}), 0) << s.err;
  EXPECT_EQ(s.blob("main:in/a.cpp"), "int aa;\n");
  EXPECT_EQ(s.id_of("main~2"), base);
  EXPECT_EQ(status_entries(), 0u);
}

TEST_F(CommitSeries, OptionsThatDoNotGoTogetherAreNamed) {
  EXPECT_EQ(s.run({"check", "--commit"}), kExitUsage);
  EXPECT_EQ(s.run({"apply", "--branch", "x"}), kExitUsage);
  EXPECT_EQ(s.run({"apply", "--commit", "--rev", "HEAD"}), kExitUsage);
}

}  // namespace
}  // namespace patcher
