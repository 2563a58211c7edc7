// The verb `import`, from diffs and mails to patches that do the same on the base.
#include "tests/patcher/scratch.h"

namespace patcher {
namespace {

namespace fs = std::filesystem;

class ImportVerb : public testing::Test {
 protected:
  int import(const std::vector<std::string>& files) {
    std::vector<std::string> args = {"patcher", "import"};
    for (const std::string& file : files)
      args.push_back((s_.directory() / file).string());
    args.insert(args.end(), {"--base", s_.root().string(), "--out-dir", s_.patches().string()});
    return s_.run_plain(args);
  }

  Scratch s_;
};

constexpr const char* kFirst =
    "From 0123456789012345678901234567890123456789 Mon Sep 17 00:00:00 2001\n"
    "From: A <a@example.org>\nSubject: [PATCH 1/2] Return more\n\nIt is needed.\n---\n"
    " a.cpp | 2 +-\n\ndiff --git a/a.cpp b/a.cpp\n--- a/a.cpp\n+++ b/a.cpp\n"
    "@@ -2 +2 @@ int f() {\n-  return 1;\n+  return 2;\n-- \n2.39\n\n";
constexpr const char* kSecond =
    "--- a/a.cpp\n+++ b/a.cpp\n@@ -1,3 +1,4 @@\n int f() {\n+  g();\n   return 2;\n }\n"
    "--- /dev/null\n+++ b/sub/new.txt\n@@ -0,0 +1 @@\n+made\n\\ No newline at end of file\n";

TEST_F(ImportVerb, WritesASeriesThatDoesTheSame) {
  s_.file("a.cpp", "int f() {\n  return 1;\n}\n");
  write_bytes(s_.directory() / "1.mbox", kFirst);
  write_bytes(s_.directory() / "2.diff", kSecond);
  ASSERT_EQ(import({"1.mbox", "2.diff"}), 0) << s_.err;
  EXPECT_EQ(read_bytes(s_.patches() / "series"), "1.patch\n2.patch\n");
  EXPECT_EQ(read_bytes(s_.patches() / "1.patch"),
            "Subject: Return more\nWhy: It is needed.\n\n--- a.cpp\n+++ a.cpp\n@@ f @@\n"
            "-  return 1;\n+  return 2;\n");
  const Tree first = read_tree(s_.patches());
  ASSERT_EQ(import({"1.mbox", "2.diff"}), 0) << "the same again: " << s_.err;
  EXPECT_EQ(read_tree(s_.patches()), first);
  ASSERT_EQ(s_.run({"apply"}), 0) << s_.out << s_.err;
  EXPECT_EQ(s_.bytes("a.cpp"), "int f() {\n  g();\n  return 2;\n}\n");
  EXPECT_EQ(s_.bytes("sub/new.txt"), "made");
}

// A later section of a file goes on from what an earlier one made of it.
TEST_F(ImportVerb, TakesTheSectionsOfOneFileInTheirOrder) {
  s_.file("a.cpp", "int f() {\n  return 1;\n}\n");
  write_bytes(s_.directory() / "1.diff",
              "--- a/a.cpp\n+++ b/a.cpp\n@@ -1,3 +1,4 @@\n int f() {\n+  one();\n   return 1;\n }\n"
              "--- /dev/null\n+++ b/n.cpp\n@@ -0,0 +1,2 @@\n+int a;\n+int b;\n"
              "--- a/a.cpp\n+++ b/a.cpp\n@@ -2,2 +2,3 @@\n   one();\n+  two();\n   return 1;\n"
              "--- a/n.cpp\n+++ b/n.cpp\n@@ -1,2 +1,2 @@\n int a;\n-int b;\n+int c;\n");
  ASSERT_EQ(import({"1.diff"}), 0) << s_.err;
  ASSERT_EQ(s_.run({"apply"}), 0) << s_.out << s_.err;
  EXPECT_EQ(s_.bytes("a.cpp"), "int f() {\n  one();\n  two();\n  return 1;\n}\n");
  EXPECT_EQ(s_.bytes("n.cpp"), "int a;\nint c;\n");
}

// Lines without a token are found by their text, of which there is one already.
TEST_F(ImportVerb, TakesOneMoreOfACommentOrABlankLineThatIsThere) {
  for (const std::string line : {"// words", ""}) {
    SCOPED_TRACE(line);
    std::filesystem::remove_all(s_.patches());
    const std::string base = "int a;\n" + line + "\nint b;\n";
    s_.file("a.cpp", base);
    write_bytes(s_.directory() / "1.diff", "--- a/a.cpp\n+++ b/a.cpp\n@@ -1,3 +1,4 @@\n int a;\n " +
                                               line + "\n+" + line + "\n int b;\n");
    ASSERT_EQ(import({"1.diff"}), 0) << s_.err;
    EXPECT_EQ(s_.run({"apply"}), 0) << s_.err;
    EXPECT_EQ(s_.bytes("a.cpp"), "int a;\n" + line + "\n" + line + "\nint b;\n");
    EXPECT_EQ(s_.run({"apply", "--expect-changes"}), 10) << s_.err;
    EXPECT_EQ(s_.run({"revert"}), 0) << s_.err;
    EXPECT_EQ(s_.bytes("a.cpp"), base);
  }
}

TEST_F(ImportVerb, RefusesADiffOfAnotherBaseAndWritesNothing) {
  s_.file("a.cpp", "\nint f() {\n  return 1;\n}\n");  // one line further down
  write_bytes(s_.directory() / "1.mbox", kFirst);
  write_bytes(s_.directory() / "2.diff", kSecond);
  EXPECT_EQ(import({"1.mbox", "2.diff"}), 12);
  EXPECT_NE(s_.err.find("the base has other text there"), std::string::npos) << s_.err;
  EXPECT_TRUE(read_tree(s_.patches()).empty());
}

TEST_F(ImportVerb, NeverOverwritesAnotherFile) {
  s_.file("a.cpp", "int f() {\n  return 1;\n}\n");
  write_bytes(s_.directory() / "1.mbox", kFirst);
  write_bytes(s_.patches() / "series", "mine.patch\n");
  EXPECT_EQ(import({"1.mbox"}), 3);
  EXPECT_NE(s_.err.find("series: is there and differs"), std::string::npos) << s_.err;
  EXPECT_EQ(read_tree(s_.patches()).size(), 1U);
}

TEST_F(ImportVerb, TakesTheBasesLineEnds) {
  s_.file("a.cpp", "int f() {\r\n  return 1;\r\n}\r\n");
  write_bytes(s_.directory() / "1.mbox", kFirst);
  ASSERT_EQ(import({"1.mbox"}), 0) << s_.err;
  ASSERT_EQ(s_.run({"apply"}), 0) << s_.out << s_.err;
  EXPECT_EQ(s_.bytes("a.cpp"), "int f() {\r\n  return 2;\r\n}\r\n");
}

constexpr const char* kThird =
    "From 1123456789012345678901234567890123456789 Mon Sep 17 00:00:00 2001\n"
    "From: A <a@example.org>\nSubject: [PATCH 2/2] Say why\n\n"
    "From here on it is 2.\n>From 1 Mon Sep 17 00:00:00 2001\nFrom 2 at 00:00:00 2001\n---\n"
    "--- a/a.cpp\n+++ b/a.cpp\n@@ -1,3 +1,4 @@\n int f() {\n+  g();\n   return 2;\n }\n";

TEST_F(ImportVerb, MakesAPatchOfEachMailOfAnMbox) {
  s_.file("a.cpp", "int f() {\n  return 1;\n}\n");
  write_bytes(s_.directory() / "all.mbox", std::string(kFirst) + kThird);
  ASSERT_EQ(import({"all.mbox"}), 0) << s_.err;
  EXPECT_EQ(read_bytes(s_.patches() / "series"), "0001-return-more.patch\n0002-say-why.patch\n");
  ASSERT_EQ(s_.run({"apply"}), 0) << s_.out << s_.err;
  EXPECT_EQ(s_.bytes("a.cpp"), "int f() {\n  g();\n  return 2;\n}\n");
}

TEST_F(ImportVerb, NamesThePlaceOfAMistakeInTheMbox) {
  s_.file("a.cpp", "int f() {\n  return 1;\n}\n");
  std::string broken = kThird;
  broken.erase(broken.find("   return 2;"));
  write_bytes(s_.directory() / "all.mbox", std::string(kFirst) + broken);
  EXPECT_EQ(import({"all.mbox"}), 18);
  EXPECT_TRUE(holds(s_.err, "all.mbox:28:1: error: malformed: the hunk ends early")) << s_.err;
  write_bytes(s_.directory() / "cover.mbox",
              std::string(kThird).substr(0, std::string(kThird).find("---\n--- a")) + kFirst);
  EXPECT_EQ(import({"cover.mbox"}), 18);
  EXPECT_TRUE(holds(s_.err, "cover.mbox:1:1: error: malformed: there is no diff in it")) << s_.err;
}

TEST_F(ImportVerb, RefusesTwoPatchesOfOneName) {
  s_.file("a.cpp", "int f() {\n  return 1;\n}\n");
  write_bytes(s_.directory() / "all.mbox", std::string(kFirst) + kThird);
  write_bytes(s_.directory() / "0002-say-why.diff", kSecond);
  EXPECT_EQ(import({"all.mbox", "0002-say-why.diff"}), 18);
  EXPECT_TRUE(holds(s_.err, "two patches have the name `0002-say-why.patch`")) << s_.err;
  EXPECT_TRUE(read_tree(s_.patches()).empty());
}

TEST_F(ImportVerb, AnMboxIsNoPatchOfASeries) {
  s_.file("a.cpp", "int f() {\n  return 1;\n}\n");
  write_bytes(s_.patches() / "all.mbox", std::string(kFirst) + kThird);
  write_bytes(s_.patches() / "series", "all.mbox\n");
  EXPECT_EQ(s_.run({"apply"}), 18);
  EXPECT_TRUE(holds(s_.out + s_.err,
                    "all.mbox:18:1: error: malformed: the file holds 2 mails; `patcher import`"))
      << s_.out << s_.err;
  EXPECT_EQ(s_.bytes("a.cpp"), "int f() {\n  return 1;\n}\n");
}

TEST_F(ImportVerb, SaysWhatADiffsFileDiffersFrom) {
  s_.file("made.cpp", "int other;\n");
  s_.file("gone.cpp", "int other;\n");
  write_bytes(s_.patches() / "1.diff",
              "--- /dev/null\n+++ b/made.cpp\n@@ -0,0 +1 @@\n+int a;\n"
              "--- a/gone.cpp\n+++ /dev/null\n@@ -1 +0,0 @@\n-int a;\n");
  write_bytes(s_.patches() / "series", "1.diff\n");
  EXPECT_NE(s_.run({"check"}), 0);
  EXPECT_TRUE(holds(s_.out + s_.err, "is there and differs from what the diff adds")) << s_.err;
  EXPECT_TRUE(holds(s_.out + s_.err, "differs from the lines of the diff, the copy of what"))
      << s_.err;
}

TEST_F(ImportVerb, RefusesANameThatASeriesCannotList) {
  s_.file("a.cpp", "int f() {\n  return 1;\n}\n");
  for (const std::string name : {"my fix #1.diff", "#1.diff", " lead.diff", "a -p1.diff"}) {
    write_bytes(s_.directory() / name, kFirst);
    EXPECT_EQ(import({name}), 18) << name;
    EXPECT_TRUE(holds(s_.err, "a series cannot name `")) << s_.err;
  }
  EXPECT_TRUE(read_tree(s_.patches()).empty());
}

TEST_F(ImportVerb, MakesNoFileThatTheBaseHas) {
  s_.file("a.cpp", "int a;\n");
  write_bytes(s_.directory() / "1.diff", "--- /dev/null\n+++ b/a.cpp\n@@ -0,0 +1 @@\n+int b;\n");
  EXPECT_NE(import({"1.diff"}), 0);
  EXPECT_TRUE(holds(s_.err, "is in the base already")) << s_.err;
}

TEST_F(ImportVerb, TellsANewFileFromAnEmptyOneByTheBase) {
  const std::string diff = "--- a/a.txt\n+++ b/a.txt\n@@ -0,0 +1 @@\n+made\n";
  write_bytes(s_.directory() / "1.diff", diff);
  ASSERT_EQ(import({"1.diff"}), 0) << s_.err;
  EXPECT_TRUE(holds(read_bytes(s_.patches() / "1.patch"), "install: 1/a.txt -> a.txt"));
  write_bytes(s_.patches() / "series", "1.diff\n");
  write_bytes(s_.patches() / "1.diff", diff);
  ASSERT_EQ(s_.run({"apply"}), 0) << s_.out << s_.err;
  EXPECT_EQ(s_.bytes("a.txt"), "made\n");
}

// A series as quilt writes it.
TEST_F(ImportVerb, TakesQuiltsOptions) {
  s_.file("f.cpp", "int a;\n");
  s_.file("s/f.cpp", "int a;\n");
  const std::string diff = "--- s/f.cpp\n+++ s/f.cpp\n@@ -1 +1 @@\n-int a;\n+int b;\n";
  const auto run = [&](const std::string& line, const std::string& text) {
    write_bytes(s_.patches() / "1.diff", text);
    write_bytes(s_.patches() / "series", "\xEF\xBB\xBF" + line + "\n");
    return s_.run({"diff"});
  };
  EXPECT_EQ(run("1.diff -p1 # as it was", diff), 0) << s_.out << s_.err;
  EXPECT_TRUE(holds(s_.out, "+++ b/f.cpp")) << s_.out;
  EXPECT_EQ(run("1.diff\t-p0", diff), 0) << s_.out << s_.err;
  EXPECT_TRUE(holds(s_.out, "+++ b/s/f.cpp")) << s_.out;
  EXPECT_EQ(run("1.diff -R", diff), 18);
  EXPECT_TRUE(holds(s_.err, "`-R`: known behind a name are -p0, -p1 and -pab")) << s_.err;
  EXPECT_EQ(run("1.diff -p1 -R", diff), 18);
  EXPECT_EQ(run("1.diff -p1",
                "Subject: s\nWhy: w\n--- f.cpp\n+++ f.cpp\n@@ file @@\n-int a;\n+int "
                "b;\n"),
            18);
  EXPECT_TRUE(holds(s_.out + s_.err, "`-p1` is for a diff, and this is none")) << s_.out << s_.err;
}

TEST_F(ImportVerb, CarryKeepsQuiltsOptions) {
  s_.file("f.cpp", "int a;\n");
  write_bytes(s_.patches() / "1.diff", "--- s/f.cpp\n+++ s/f.cpp\n@@ -1 +1 @@\n-int a;\n+int b;\n");
  write_bytes(s_.patches() / "series", "1.diff -p1\n");
  const std::string out = (s_.directory() / "carried").string();
  ASSERT_EQ(s_.run({"carry", "--base", s_.root().string(), "--out-dir", out}), 0) << s_.err;
  EXPECT_EQ(read_bytes(out + "/series"), "1.diff -p1\n");
}

TEST_F(ImportVerb, SaysWhyAFileCannotBeRead) {
  std::filesystem::create_symlink("loop", s_.patches() / "loop");
  write_bytes(s_.patches() / "series", "loop\n");
  EXPECT_EQ(s_.run({"check"}), 3);
  EXPECT_TRUE(holds(s_.err, "loop: cannot be read: Too many levels of symbolic links")) << s_.err;
  write_bytes(s_.patches() / "series", "sub\n");
  std::filesystem::create_directory(s_.patches() / "sub");
  EXPECT_EQ(s_.run({"check"}), 3);
  EXPECT_TRUE(holds(s_.err, "sub: cannot be read: it is not a regular file")) << s_.err;
  EXPECT_EQ(import({"patches/loop"}), 3);
}

TEST_F(ImportVerb, NeedsFilesAndAPlace) {
  EXPECT_EQ(s_.run_plain({"patcher", "import"}), 2);
  EXPECT_EQ(s_.run_plain({"patcher", "import", "x.patch"}), 2);
  EXPECT_EQ(s_.run_plain({"patcher", "check", "x.patch"}), 2);
  EXPECT_EQ(s_.run_plain({"patcher", "import", "none.patch", "--out-dir", "none"}), 3);
}

}  // namespace
}  // namespace patcher
