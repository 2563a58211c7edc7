#include "patcher/import/import.h"

#include <gtest/gtest.h>

#include "patcher/patch/patch.h"
#include "patcher/text/change_blocks.h"

namespace patcher {
namespace {

Imported import_one(const std::string& before, const std::string& after,
                    const std::string& path = "a.cpp") {
  return import_change(
      {.name = "0001-x.patch",
       .subject = "X",
       .why = "Because.",
       .files = {{.path_before = path, .path_after = path, .before = before, .after = after}}});
}

std::string body(const Imported& imported) {
  for (const Finding& f : imported.errors)
    ADD_FAILURE() << f.place.line << ": " << f.message;
  const size_t at = imported.text.find("@@");
  return at == std::string::npos ? "" : imported.text.substr(at);
}

constexpr const char* kTwoFunctions =
    "int f(int x) {\n  int y = x;\n  return y;\n}\n\nint g(int x) {\n  int y = x;\n  return "
    "y;\n}\n";

std::string replace(std::string text, const std::string& what, const std::string& with,
                    size_t nth = 0) {
  size_t at = text.find(what);
  while (nth-- > 0)
    at = text.find(what, at + 1);
  return text.replace(at, what.size(), with);
}

TEST(Import, NamesTheScopeAndTheSmallestAnchor) {
  const std::string after = replace(kTwoFunctions, "return y", "return y + 1", 1);
  EXPECT_EQ(body(import_one(kTwoFunctions, after)), "@@ g @@\n-  return y;\n+  return y + 1;\n");
}

TEST(Import, TakesContextWhereTheLineAloneIsNotUnique) {
  const std::string before = "void f() {\n  a();\n  b();\n  a();\n  c();\n}\n";
  const std::string after = replace(before, "a();", "a(1);", 1);
  EXPECT_EQ(body(import_one(before, after)), "@@ f @@\n   b();\n-  a();\n+  a(1);\n");
}

TEST(Import, GivesParametersToAnOverload) {
  const std::string before = "int f(int x) {\n  return x;\n}\nint f(long x) {\n  return x;\n}\n";
  const std::string after = replace(before, "return x", "return -x", 1);
  EXPECT_EQ(body(import_one(before, after)), "@@ f(long) @@\n-  return x;\n+  return -x;\n");
}

TEST(Import, StatesTheOccurrenceOfCopies) {
  std::string before = "void f() {\n";
  for (int i = 0; i < 20; ++i)
    before += "  a();\n";
  before += "}\n";
  const std::string after = replace(before, "a();", "b();", 10);
  EXPECT_EQ(body(import_one(before, after)), "@@ f | 11 of 20 @@\n-  a();\n+  b();\n");
}

TEST(Import, KeepsInsertedFunctionsWhole) {
  const std::string before = "void a() {\n  x();\n}\n\nvoid c() {\n  x();\n}\n";
  const std::string after =
      "void a() {\n  x();\n}\n\nvoid b() {\n  x();\n}\n\nvoid c() {\n  x();\n}\n";
  const auto blocks = change_blocks(before, after);
  ASSERT_EQ(blocks.size(), 1U);
  EXPECT_EQ(blocks[0].after_begin, 4U);
  EXPECT_EQ(body(import_one(before, after)).substr(0, 11), "@@ file @@\n");
}

TEST(Import, GivesTheSameBytesTwiceAndForEveryKindOfLineEnd) {
  for (const char* path : {"a.cpp", "a.txt"}) {
    const std::string before = "int x;\r\nint y;\r\nint z;\r\n";
    const std::string after = replace(before, "y", "yy");
    const auto one = import_one(before, after, path);
    EXPECT_EQ(one.text, import_one(before, after, path).text);
    EXPECT_NE(body(one), "");
  }
  EXPECT_NE(body(import_one("int x;\nint y;", "int x;\nint z;")), "");
}

TEST(Import, MakesRenamesModesNewAndDeletedFiles) {
  const auto made =
      import_change({.name = "0001-x.patch",
                     .subject = "X",
                     .why = "",
                     .files = {{.path_before = "a.cpp",
                                .path_after = "b.cpp",
                                .before = "int a;\nint c;\n",
                                .after = "int a;\nint b;\nint c;\n",
                                .mode_after = 0755},
                               {.path_after = "new.sh", .after = "#!/bin/sh\n", .mode_after = 0755},
                               {.path_before = "old.txt", .before = "gone\n"}}});
  ASSERT_TRUE(made.errors.empty()) << made.errors.front().message;
  EXPECT_EQ(made.text,
            "Subject: X\nWhy: X\nrename: a.cpp -> b.cpp\nmode: b.cpp -> 755\n"
            "install: 0001-x/new.sh -> new.sh\ndelete: old.txt -> 0001-x/old.txt\n\n"
            "--- a.cpp\n+++ b.cpp\n@@ file @@\n int a;\n+int b;\n");
  ASSERT_EQ(made.beside.size(), 2U);
  EXPECT_TRUE(made.beside[0].executable);
}

// A body is found by its function's name alone where the same patch changes the parameters, or the
// patch could not be told to be applied.
TEST(Import, NamesNoParametersThatThePatchChanges) {
  const std::string before =
      "int f(int x) {\n  start(x);\n  return g(\n    x,\n    1);\n}\n"
      "int f(long x) {\n  start(x);\n  return g(\n    x,\n    1);\n}\n";
  std::string after = replace(before, "int x)", "int x, int y)");
  after = replace(after, "    x,\n", "    x,\n    y,\n");
  after = replace(after, "long x)", "long x, int y)");
  after = replace(after, "    x,\n    1", "    x,\n    y,\n    1");
  const Imported imported = import_one(before, after);
  ASSERT_TRUE(imported.errors.empty()) << imported.errors.front().message;
  EXPECT_EQ(imported.text.find("@@ f("), std::string::npos) << imported.text;
}

TEST(Import, FindsCodeBehindALongComment) {
  std::string before = "/* Copyright 2007\n";
  for (int i = 0; i < 20; ++i)
    before += " * line " + std::to_string(i) + "\n";
  before += " */\n\nint x;\nint y;\n";
  const Imported imported = import_one(before, replace(before, "2007", "2008"));
  ASSERT_TRUE(imported.errors.empty()) << imported.errors.front().message;
  EXPECT_NE(imported.text.find("\n int x;\n"), std::string::npos) << imported.text;
}

TEST(Import, AnchorsTheMiddleOfACommentAtAFilesEdges) {
  std::string comment = "/* Notes\n";
  for (int i = 0; i < 20; ++i)
    comment += " * line " + std::to_string(i) + "\n";
  comment += " */\n";
  for (const std::string& before : {comment + "int x;\n", "int x;\n" + comment}) {
    const Imported imported = import_one(before, replace(before, "line 9", "line nine"));
    ASSERT_TRUE(imported.errors.empty()) << imported.errors.front().message;
    EXPECT_NE(imported.text.find("\n int x;\n"), std::string::npos) << imported.text;
  }
}

TEST(Import, TakesLinesFromAFilesEdges) {
  const std::string text = "int a;\nint b;\nint c;\nint d;\n";
  EXPECT_EQ(body(import_one(text, "int a;\nint b;\n")),
            "@@ file @@\n-int b;\n-int c;\n-int d;\n+int b;\n");
  EXPECT_EQ(body(import_one(text, "int b;\nint c;\nint d;\n")),
            "@@ file @@\n-int a;\n-int b;\n+int b;\n");
}

TEST(Import, WritesALostOrNewLastNewline) {
  const std::string text = "int a;\nint b;\n";
  const Imported lost = import_one(text, "int a;\nint b;\nint c;");
  EXPECT_NE(lost.text.find("newline: a.cpp -> no\n"), std::string::npos) << lost.text;
  const Imported gained = import_one("int a;\r\nint b;", "int a;\r\nint b;\r\n");
  ASSERT_TRUE(gained.errors.empty());
  EXPECT_NE(gained.text.find("newline: a.cpp -> yes\n"), std::string::npos) << gained.text;
  EXPECT_EQ(gained.text.find("@@"), std::string::npos) << gained.text;
}

TEST(Import, RefusesByName) {
  const auto refused = [](const std::string& after, mode_t mode, const std::string& path) {
    const auto made =
        import_change({.name = "p.patch",
                       .subject = "X",
                       .files = {{.path_after = path, .after = after, .mode_after = mode}}});
    EXPECT_TRUE(made.text.empty());
    return made.errors.empty() ? "" : made.errors.front().place.file + made.errors.front().message;
  };
  EXPECT_EQ(refused(std::string("\0", 1), 0644, "a.bin"), "a.binis binary (it holds a NUL byte)");
  EXPECT_EQ(refused("a", 0120000, "link"), "linkis a symbolic link");
  EXPECT_EQ(refused("a", 0160000, "sub"), "subis not a regular file");
  EXPECT_EQ(refused("a", 0644, "../a"), "`../a` is not a path inside the tree");
}

// Nothing but a comment: there is no token to anchor by, and the lines say it all.
TEST(Import, KeepsTheDiffWhereNoAnchorsMakeTheChange) {
  const auto made = import_one("// a\n", "// b\n");
  EXPECT_TRUE(made.errors.empty());
  EXPECT_FALSE(made.kept_diff.empty());
  EXPECT_NE(made.text.find("--- a/a.cpp\n+++ b/a.cpp\n@@ -1 +1 @@\n-// a\n+// b\n"),
            std::string::npos)
      << made.text;
}

TEST(Import, RefusesWhatItCannotProve) {
  const std::string markers = "<<<<<<< ours\nint a;\n=======\nint b;\n>>>>>>> theirs\n";
  const auto made = import_one(markers + "int c;\n", markers + "int d;\n");
  ASSERT_FALSE(made.errors.empty());
  EXPECT_EQ(made.errors.front().verdict, Verdict::kDamagedParse);
  EXPECT_TRUE(made.text.empty());
}

TEST(Import, NamesFilesBySubject) {
  EXPECT_EQ(patch_file_name(3, "Keep: the rows!"), "0003-keep-the-rows.patch");
  EXPECT_EQ(patch_file_name(12, "\xc3\xa9"), "0012-change.patch");
}

}  // namespace
}  // namespace patcher
