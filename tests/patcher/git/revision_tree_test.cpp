// --rev: a series judged on a revision, straight from the object database.
#include <nlohmann/json.hpp>

#include "patcher/base/verdict.h"
#include "tests/patcher/git_scratch.h"

namespace patcher {
namespace {

namespace fs = std::filesystem;

const char* const kDiffA =
    "# 1.patch: 1.patch\ndiff --git a/a.cpp b/a.cpp\n--- a/a.cpp\n+++ b/a.cpp\n@@ -1 +1 @@\n"
    "-int a;\n+int b;\n";

TEST(Revision, IsJudgedWithoutACheckoutAndWithoutWriting) {
  GitScratch s;
  s.file("a.cpp", "int a;\n");
  s.commit("has the anchor");
  s.file("a.cpp", "int z;\n");
  const std::string second = s.commit("has not");
  s.file("a.cpp", "int mine;\n");
  s.patch("1.patch", kChangeA);
  const Tree before = read_tree(s.directory());
  EXPECT_EQ(s.run({"check"}), exit_code(Verdict::kMissing));
  EXPECT_EQ(s.run({"check", "--rev", "main~1"}), 0) << s.err;
  EXPECT_EQ(s.run({"check", "--rev", "main"}), exit_code(Verdict::kMissing));
  EXPECT_TRUE(holds(s.out, "at main (" + second.substr(0, 12) + ") has not\n")) << s.out;
  EXPECT_TRUE(holds(s.err, "a.cpp")) << s.err;
  EXPECT_EQ(s.run({"diff", "--rev", "main~1"}), 0);
  EXPECT_EQ(s.out, kDiffA);
  EXPECT_EQ(read_tree(s.directory()), before);
}

TEST(Revision, IsNamedInJson) {
  GitScratch s;
  s.file("a.cpp", "int a;\n");
  const std::string id = s.commit("first");
  s.patch("1.patch", kChangeA);
  ASSERT_EQ(s.run({"check", "--json", "--rev", id.substr(0, 8)}), 0) << s.err;
  const auto j = nlohmann::json::parse(s.out);
  EXPECT_EQ(j["rev"]["asked"], id.substr(0, 8));
  EXPECT_EQ(j["rev"]["commit"], id);
  EXPECT_EQ(j["written"], 0);
}

TEST(Revision, WithoutACommitEndsItsLineInNoBlank) {
  GitScratch s;
  s.file("a.cpp", "int a;\n");
  s.commit("first");
  s.patch("1.patch", kChangeA);
  ASSERT_EQ(s.run({"check", "--rev", "HEAD^{tree}"}), 0) << s.err;
  EXPECT_TRUE(s.out.starts_with("at HEAD^{tree}\n")) << s.out;
}

TEST(Revision, OfASubdirectoryIsThatSubdirectory) {
  GitScratch s("");
  s.file("vendor/lib/a.cpp", "int a;\n");
  s.file("a.cpp", "int unlike;\n");
  s.commit("first");
  s.file("vendor/lib/a.cpp", "int gone;\n");
  s.patch("1.patch", kChangeA);
  const std::string series = (s.patches() / "series").string();
  const auto check = [&](const fs::path& root, const std::string& rev) {
    return s.run_plain(
        {"patcher", "check", "--rev", rev, "--root", root.string(), "--series", series});
  };
  EXPECT_EQ(check(s.root() / "vendor/lib", "HEAD"), 0) << s.err;
  EXPECT_EQ(check(s.root() / "vendor", "HEAD"), exit_code(Verdict::kFileMissing));
  EXPECT_EQ(check(s.root(), "HEAD"), exit_code(Verdict::kMissing));
  EXPECT_EQ(check(s.root(), "HEAD:tree/vendor/lib"), 0) << s.err;
}

TEST(Revision, IsReadFromABareRepository) {
  GitScratch s;
  s.file("a.cpp", "int a;\n");
  s.file("in/a.cpp", "int a;\n");
  s.commit("first");
  s.patch("1.patch", kChangeA);
  const std::string bare = s.bare().string();
  const std::string series = (s.patches() / "series").string();
  for (const char* rev : {"main", "HEAD:in"}) {
    EXPECT_EQ(s.run_plain({"patcher", "check", "--rev", rev, "--root", bare, "--series", series}),
              0)
        << s.err;
  }
}

TEST(Revision, KeepsModesAndRefusesLinks) {
  GitScratch s;
  s.file("a.cpp", "int a;\n");
  fs::permissions(s.root() / "a.cpp", fs::perms::owner_all);
  s.file("inner/b.cpp", "int a;\n");
  fs::create_symlink("a.cpp", s.root() / "l.cpp");
  fs::create_directory_symlink("inner", s.root() / "d");
  s.commit("first");
  s.patch("1.patch", "rename: a.cpp -> c.cpp\n");
  ASSERT_EQ(s.run({"diff", "--rev", "HEAD"}), 0) << s.err;
  EXPECT_TRUE(holds(s.out, "100755")) << s.out;
  s.patch("2.patch", "--- l.cpp\n+++ l.cpp\n@@ file @@\n-int a;\n+int b;\n");
  s.patch("3.patch", "--- d/b.cpp\n+++ d/b.cpp\n@@ file @@\n-int a;\n+int b;\n");
  s.patch("4.patch", "--- inner\n+++ inner\n@@ file @@\n-int a;\n+int b;\n");
  EXPECT_EQ(s.run({"check", "--rev", "HEAD"}), exit_code(Verdict::kUnsafePath));
  EXPECT_TRUE(holds(s.err, "l.cpp is a symbolic link")) << s.err;
  EXPECT_TRUE(holds(s.err, "d/b.cpp goes through a link")) << s.err;
  EXPECT_TRUE(holds(s.err, "inner is not a regular file")) << s.err;
}

TEST(Revision, TwoPathsWithOneContentAreTwoFiles) {
  GitScratch s;
  s.file("a.cpp", "int a;\n");
  s.file("b.cpp", "int a;\n");
  s.commit("first");
  s.patch("1.patch", kChangeA);
  s.patch("2.patch", "--- b.cpp\n+++ b.cpp\n@@ file @@\n-int a;\n+int b;\n");
  EXPECT_EQ(s.run({"check", "--rev", "HEAD"}), 0) << s.err;
}

TEST(Revision, MistakesAreOneLineWithTheReason) {
  GitScratch s;
  s.file("a.cpp", "int a;\n");
  s.commit("first");
  s.patch("1.patch", kChangeA);
  EXPECT_EQ(s.run({"check", "--rev", "nowhere"}), kExitEnvironment);
  EXPECT_TRUE(holds(s.err, "nowhere: there is no such revision")) << s.err;
  EXPECT_EQ(s.run({"check", "--rev", "HEAD:a.cpp"}), kExitEnvironment);
  EXPECT_TRUE(holds(s.err, "HEAD:a.cpp: names no commit or directory")) << s.err;
  EXPECT_EQ(s.run({"apply", "--rev", "HEAD"}), kExitUsage);
  EXPECT_TRUE(holds(s.err, "apply does not take --rev, which belongs to check, diff, carry"))
      << s.err;
  s.file("new/a.cpp", "int a;\n");
  const std::string series = (s.patches() / "series").string();
  EXPECT_EQ(s.run_plain({"patcher", "--rev", "HEAD", "--root", (s.root() / "new").string(),
                         "--series", series}),
            kExitEnvironment);
  EXPECT_TRUE(holds(s.err, "has no directory new")) << s.err;
  EXPECT_EQ(
      s.run_plain({"patcher", "--rev", "HEAD", "--root", s.patches().string(), "--series", series}),
      kExitEnvironment);
  EXPECT_TRUE(holds(s.err, "is in no git repository")) << s.err;
}

// Everything that has ever changed somebody's patch text or made git run a program.
void make_hostile(GitScratch& s) {
  const std::pair<const char*, const char*> settings[] = {{"diff.noprefix", "true"},
                                                          {"diff.mnemonicPrefix", "true"},
                                                          {"diff.algorithm", "histogram"},
                                                          {"diff.external", "/bin/false"},
                                                          {"diff.renames", "copies"},
                                                          {"diff.context", "0"},
                                                          {"core.autocrlf", "true"},
                                                          {"core.fsmonitor", "/bin/false"},
                                                          {"core.hooksPath", "/nonexistent"},
                                                          {"core.attributesFile", "/nonexistent"},
                                                          {"color.ui", "always"},
                                                          {"filter.evil.smudge", "/bin/false"},
                                                          {"filter.evil.required", "true"},
                                                          {"core.quotePath", "true"}};
  for (const auto& [key, value] : settings)
    s.configure(key, value);
  s.file(".gitattributes", "*.cpp filter=evil eol=crlf diff=evil -text\n");
  // What the user has: not even sound.
  write_bytes(s.directory() / "home/.gitconfig", "[diff\nnoprefix = true\n");
  for (const int level : {GIT_CONFIG_LEVEL_SYSTEM, GIT_CONFIG_LEVEL_XDG, GIT_CONFIG_LEVEL_GLOBAL}) {
    git_libgit2_opts(GIT_OPT_SET_SEARCH_PATH, level, (s.directory() / "home").c_str());
  }
  setenv("GIT_DIR", "/nonexistent", 1);
  setenv("GIT_EXTERNAL_DIFF", "/bin/false", 1);
  setenv("GIT_DIFF_OPTS", "-u0", 1);
  setenv("LANG", "tr_TR.UTF-8", 1);
}

TEST(Revision, TheUsersConfigurationChangesNoByte) {
  GitScratch s;
  s.file("a.cpp", "int a;\n");
  s.commit("first");
  s.patch("1.patch", kChangeA);
  make_hostile(s);
  EXPECT_EQ(s.run({"diff", "--rev", "HEAD"}), 0) << s.err;
  EXPECT_EQ(s.out, kDiffA);
  EXPECT_EQ(s.run({"diff"}), 0) << s.err;
  EXPECT_EQ(s.out, kDiffA);
  for (const char* name : {"GIT_DIR", "GIT_EXTERNAL_DIFF", "GIT_DIFF_OPTS", "LANG"})
    unsetenv(name);
}

}  // namespace
}  // namespace patcher
