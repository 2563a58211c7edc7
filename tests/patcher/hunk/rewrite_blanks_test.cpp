// Bytes that no token has: blanks, indentation, line ends and the backslashes of macros.
#include "patcher/base/verdict.h"
#include "tests/patcher/scratch.h"

namespace patcher {
namespace {

// A blank at the end of a line is a part of the change like any other byte, in every kind of file.
TEST(Blanks, BlanksAtTheEndOfALineComeAndGoWithIt) {
  const std::pair<std::string, std::string> changes[] = {{"int a = 1;", "int a = 2; "},
                                                         {"int a = 1;\t ", "int a = 2;"},
                                                         {"int a = 1;  ", "foo(bar); "},
                                                         {"int a = 1;  // c ", "int a = 1;"},
                                                         {"int a = 1;", "int a = 1; \\"}};
  for (const char* path : {"a.cpp", "a.md"}) {
    for (const char* end : {"\n", "\r\n"}) {
      for (const auto& [from, to] : changes) {
        SCOPED_TRACE(std::string(path) + ": " + from + "|" + to + "|");
        const auto file = [&](const std::string& line) {
          return "x;" + (end + line) + end + "y;" + end;
        };
        Scratch s;
        s.file(path, file(from));
        s.patch("1.patch", std::string("--- ") + path + "\n+++ " + path + "\n@@ file @@\n-" + from +
                               "\n+" + to + "\n");
        EXPECT_EQ(s.run({"apply"}), 0) << s.err;
        EXPECT_EQ(s.bytes(path), file(to));
        EXPECT_EQ(s.run({"apply", "--expect-changes"}), exit_code(Verdict::kAlreadyApplied));
        EXPECT_EQ(s.run({"revert"}), 0) << s.err;
        EXPECT_EQ(s.bytes(path), file(from));
      }
    }
  }
}

// In a macro a line without a token is blank, or goes on.
TEST(Blanks, ALineOfAMacroMayBeABackslashAlone) {
  const std::string blank = "#define M(x) \\\n  f(x); \\\n\n  int g;\n";
  const std::string goes_on = "#define M(x) \\\n  f(x); \\\n \\\n  int g;\n";
  Scratch s;
  s.file("a.cpp", blank);
  s.patch("1.patch",
          "--- a.cpp\n+++ a.cpp\n@@ file @@\n #define M(x) \\\n   f(x); \\\n-\n+ \\\n   int g;\n");
  EXPECT_EQ(s.run({"apply"}), 0) << s.err;
  EXPECT_EQ(s.bytes("a.cpp"), goes_on);
  EXPECT_EQ(s.run({"apply", "--expect-changes"}), exit_code(Verdict::kAlreadyApplied));
  EXPECT_EQ(s.run({"revert"}), 0) << s.err;
  EXPECT_EQ(s.bytes("a.cpp"), blank);
}

// Only the margin is there to compare: the blanks of a comment's ` *` are no indentation, and a
// makefile's tabs are no style.
TEST(Blanks, IndentationIsNotTakenFromCommentsNorChangedWithoutAGrammar) {
  const std::pair<std::string, std::string> files[] = {
      {"a.h", "/*\n * One.\n * Two.\n */\nint f(int x);\nint g(int x);\n"},
      {"Makefile", "a: b\n\nifdef X\n  Y = 1\n  Z = 2\nendif\n"}};
  for (const auto& [path, text] : files) {
    Scratch s;
    s.file(path, text);
    const std::string first = path == "a.h" ? "int f(int x);" : "a: b";
    s.patch("1.patch",
            "--- " + path + "\n+++ " + path + "\n@@ file @@\n " + first + "\n+\tint h;\n");
    EXPECT_EQ(s.run({"apply"}), 0) << s.err;
    EXPECT_TRUE(holds(s.bytes(path), first + "\n\tint h;\n")) << s.bytes(path);
  }
}

// What a diff adds in another style than its file's was so in its base.
TEST(Blanks, ADiffKeepsItsBytesInAFileOfAnotherStyle) {
  const std::string f = "int f() {\n\treturn 1;\n}\n";
  const std::string g = "int g() {\n  return 2;\n}\n";
  Scratch s;
  s.file("a.cpp", f);
  write_bytes(
      s.patches() / "1.diff",
      "--- a/a.cpp\n+++ b/a.cpp\n@@ -1 +1,4 @@\n+int g() {\n+  return 2;\n+}\n int f() {\n");
  write_bytes(s.patches() / "series", "1.diff\n");
  EXPECT_EQ(s.run({"apply"}), 0) << s.err;
  EXPECT_EQ(s.bytes("a.cpp"), g + f);
}

// The tree's own blanks there would grow each time.
TEST(Blanks, WhatWouldNotBeTheSameAgainIsRefused) {
  Scratch s;
  s.file("a.cpp", "int a = 1;  \n");
  s.patch("1.patch", "--- a.cpp\n+++ a.cpp\n@@ file @@\n-int a = 1;\n+int a = 2;  \n");
  EXPECT_EQ(s.run({"apply"}), exit_code(Verdict::kAmbiguous));
  EXPECT_TRUE(holds(s.err, "would not make the same bytes again")) << s.err;
  EXPECT_EQ(s.bytes("a.cpp"), "int a = 1;  \n");
}

}  // namespace
}  // namespace patcher
