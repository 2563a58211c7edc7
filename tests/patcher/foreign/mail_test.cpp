// What is read out of diffs and mails as other tools write them, and what is refused by name.
#include <gtest/gtest.h>

#include "patcher/foreign/mail.h"
#include "patcher/foreign/unified.h"
#include "tests/case_name.h"

namespace patcher {
namespace {

#define HEAD "From: A <a@example.org>\nSubject: [PATCH] Say why\n"
#define HUNK "@@ -1 +1 @@\n-int a;\n+int b;\n"
#define CHANGE "--- a/a.cpp\n+++ b/a.cpp\n" HUNK

// "path before -> path after" of each file, or the first error as "line: message".
std::string read(const std::string& text, std::optional<size_t> strip = {}) {
  const UnifiedPatch patch = parse_unified("p", text, strip);
  if (!patch.errors.empty()) {
    return std::to_string(patch.errors[0].origin.line) + ": " + patch.errors[0].message;
  }
  std::string out;
  for (const UnifiedFile& f : patch.files)
    out += (out.empty() ? "" : ", ") + f.path_before + " -> " + f.path_after;
  return out;
}

struct Text {
  std::string text;
  std::string read;
};
class ForeignDiffs : public testing::TestWithParam<Text> {};

std::string name_of(const testing::TestParamInfo<Text>& test) {
  return case_name(test.index, test.param.read);
}

TEST_P(ForeignDiffs, AreReadOrRefusedByName) {
  const std::string found = read(GetParam().text);
  EXPECT_EQ(found.substr(0, GetParam().read.size()), GetParam().read) << found;
  EXPECT_TRUE(is_unified(GetParam().text));
}

INSTANTIATE_TEST_SUITE_P(
    LostChanges, ForeignDiffs,
    testing::Values(
        Text{"diff -ru a b\nBinary files a/x and b/x differ\n" CHANGE,
             "2: a binary file's change is not in the diff: `Binary files a/x and b/x differ`"},
        Text{"Only in b: new.h\n" CHANGE, "1: the file is not in the diff: `Only in b: new.h`"},
        Text{CHANGE "Only in b: new.h\n", "6: the file is not in the diff: `Only in b: new.h`"},
        Text{"Files a/x and b/x differ\n" CHANGE, "1: the change is not in the diff"},
        Text{CHANGE "File a/x is a directory while file b/x is a regular file\n",
             "6: the change is not in the diff"},
        Text{HEAD "\nText.\n---\nOnly in b: new.h\n" CHANGE, "6: the file is not in the diff"},
        Text{HEAD "\nOnly in b: new.h\n---\n" CHANGE, "a.cpp -> a.cpp"},
        Text{"*** a/x\n--- b/x\n***************\n*** 1 ****\n! a\n" CHANGE, "1: a context diff"},
        Text{"@@ -1 +1 @@\n-a\n+b\n" CHANGE, "1: a hunk without the lines"},
        Text{CHANGE "-- \n2.39\n\n" CHANGE, "a.cpp -> a.cpp, a.cpp -> a.cpp"}),
    name_of);

INSTANTIATE_TEST_SUITE_P(
    PlainNames, ForeignDiffs,
    testing::Values(
        Text{"diff -ruN o/n.h n/n.h\n--- o/n.h\t1970-01-01 01:00:00.000000000 +0100\n"
             "+++ n/n.h\t2024-01-01 00:00:00.000000000 +0000\n@@ -0,0 +1 @@\n+int a;\n",
             " -> n.h"},
        Text{"--- o/n.h\t2024-01-01 00:00:00.000000000 +0000\n"
             "+++ n/n.h\t1969-12-31 16:00:00.000000000 -0800\n@@ -1 +0,0 @@\n-int a;\n",
             "n.h -> "},
        Text{"--- o/n.h\t2024-01-01 00:00:00.000000000 +0000\n"
             "+++ n/n.h\t1970-01-01 00:00:01.000000000 +0000\n@@ -1 +0,0 @@\n-int a;\n",
             "n.h -> n.h"},
        Text{"--- n.h\t(nonexistent)\n+++ n.h\t(working copy)\n@@ -0,0 +1 @@\n+int a;\n",
             " -> n.h"},
        Text{"--- f.cpp.orig\n+++ f.cpp\n" HUNK, "f.cpp -> f.cpp"},
        Text{"--- f.cpp\n+++ f.cpp.new\n" HUNK, "f.cpp -> f.cpp"},
        Text{"--- o/f.cpp.orig\n+++ n/f.cpp\n" HUNK, "f.cpp -> f.cpp"},
        Text{"--- s/f.cpp.orig\n+++ s/f.cpp\n" HUNK, "s/f.cpp -> s/f.cpp"},
        Text{"--- old.cpp\n+++ new.cpp\n" HUNK, "1: names two files, `old.cpp` and `new.cpp`"},
        Text{"diff --git a/o/f b/n/f\n--- a/o/f\n+++ b/n/f\n" HUNK,
             "1: names two files, `o/f` and `n/f`"},
        Text{"--- ./o/f.cpp\n+++ ./n/f.cpp\n" HUNK, "f.cpp -> f.cpp"},
        Text{"diff --git \n" CHANGE, "a.cpp -> a.cpp"},
        Text{"diff --git \nold mode 100644\nnew mode 100755\n",
             "1: the file's name cannot be told"},
        Text{"--- \n+++ b/f\n@@ -0,0 +1 @@\n+x\n", "1: the file's name cannot be told"},
        Text{"--- a/\n+++ b/f\n@@ -0,0 +1 @@\n+x\n", "1: the file's name cannot be told"},
        Text{"--- ./f.cpp\n+++ .//f.cpp\n" HUNK, "f.cpp -> f.cpp"},
        Text{"--- /dev/null\n+++ l/s/n.h\n@@ -0,0 +1 @@\n+x\n--- l.orig/f\n+++ l/f\n" HUNK,
             " -> s/n.h, f -> f"},
        Text{"--- /dev/null\n+++ l/n.h\n@@ -0,0 +1 @@\n+x\n",
             "1: `l/n.h` does not say whether its first part is the tree's; write `b/l/n.h`"},
        Text{"--- /dev/null\n+++ l/n.h\n@@ -0,0 +1 @@\n+x\n--- l/f\n+++ l/f\n" HUNK,
             " -> l/n.h, l/f -> l/f"},
        Text{"--- n.h\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n", "n.h -> "},
        Text{"diff --git l/n.h l/n.h\nnew file mode 100644\n--- /dev/null\n+++ l/n.h\n"
             "@@ -0,0 +1 @@\n+x\n",
             " -> l/n.h"}),
    name_of);

#define INDEX "Index: f.cpp\n===================================================================\n"
#define PROPERTIES "\nProperty changes on: f.cpp\n__________________________________________\n"
INSTANTIATE_TEST_SUITE_P(
    Subversion, ForeignDiffs,
    testing::Values(
        Text{INDEX "--- f.cpp\t(revision 1)\n+++ f.cpp\t(working copy)\n" HUNK PROPERTIES
                   "Added: svn:mime-type\n## -0,0 +1 ##\n+text/plain\n\\ No newline at end of "
                   "property\n" INDEX "--- g.cpp\t(revision 0)\n+++ g.cpp\t(working copy)\n"
                   "@@ -0,0 +1 @@\n+int a;\n",
             "f.cpp -> f.cpp,  -> g.cpp"},
        Text{INDEX "--- f.cpp\t(revision 1)\n+++ f.cpp\t(working copy)\n" HUNK PROPERTIES
                   "Added: svn:executable\n## -0,0 +1 ##\n+*\n",
             "11: the property `svn:executable` of `f.cpp` is not taken"},
        Text{PROPERTIES "Name: svn:special\n   + *\n\n" CHANGE, "4: the property `svn:special`"},
        Text{INDEX "--- f.cpp\t(revision 1)\n+++ f.cpp\t(working copy)\n" PROPERTIES
                   "Modified: svn:mergeinfo\n## -0,0 +0,1 ##\n   Merged /trunk:r2\n" CHANGE,
             "a.cpp -> a.cpp"},
        Text{INDEX INDEX "--- f.cpp\n+++ f.cpp\n" HUNK, "1: a file is named and no change"},
        Text{INDEX "Cannot display: file marked as a binary type.\n", "3: a binary file's"}),
    name_of);

INSTANTIATE_TEST_SUITE_P(
    Messages, ForeignDiffs,
    testing::Values(
        Text{HEAD "\nTried was\n\n" CHANGE "\nwhich is wrong.\n---\n" CHANGE, "a.cpp -> a.cpp"},
        Text{HEAD "\nTried was\n\n" CHANGE "\n" CHANGE, "12: the mail has no line `---`"},
        Text{HEAD "\nTried was\n\n" CHANGE "\nwhich is wrong.\n\n" CHANGE,
             "12: is no part of a diff: `which is wrong.`; the mail has no line `---`"},
        Text{HEAD "\nTried was\n\n    diff --git a/e b/e\n    --- a/e\n    +++ b/e\n    @@ -1 +1 "
                  "@@\n    -a\n    +b\n\n" CHANGE,
             "a.cpp -> a.cpp"},
        // A removed line `--` is no rule.
        Text{HEAD "\nText.\n\n--- a/x\n+++ b/x\n@@ -1,2 +1 @@\n a\n---\n" CHANGE,
             "x -> x, a.cpp -> a.cpp"},
        Text{HEAD "\nAs in\n--- x\n+++ x\n@@ f @@\n-a\n+b\n---\n" CHANGE, "a.cpp -> a.cpp"},
        Text{HEAD "Why: it is needed\n\nText.\n---\n" CHANGE, "a.cpp -> a.cpp"},
        Text{"Description: x\nWhy: y\n\n" CHANGE, "a.cpp -> a.cpp"},
        Text{"\xEF\xBB\xBF" CHANGE, "a.cpp -> a.cpp"}),
    name_of);

#define LATIN "Content-Type: text/plain; charset=\"ISO-8859-1\"\n"
INSTANTIATE_TEST_SUITE_P(
    Letters, ForeignDiffs,
    testing::Values(Text{HEAD LATIN "\nText.\n---\n--- a/a\n+++ b/a\n@@ -1 +1 @@\n-a\n+\xe9\n",
                         "11: the diff has letters in the mail's charset `iso-8859-1`"},
                    Text{HEAD
                         "Content-Type: text/plain; charset=utf-8\n\nText.\n---\n--- a/a\n+++ b/a\n"
                         "@@ -1 +1 @@\n-a\n+\xe9\n",
                         "a -> a"},
                    Text{HEAD "Content-Type: text/plain; charset=klingon\n\nText.\n---\n" CHANGE,
                         "1: the mail's charset `klingon` is not known"},
                    Text{HEAD
                         "Content-Type: text/plain; charset=utf-8//IGNORE\n\nText.\n---\n" CHANGE,
                         "1: the mail's charset `utf-8//ignore` is not known"},
                    Text{HEAD "Content-Type: text/plain; charset=utf-8\n\n\xe9\n---\n" CHANGE,
                         "1: the mail has bytes that are none of its charset `utf-8`"},
                    Text{"From: A <a@example.org>\nSubject: =?klingon?q?a?=\n\n---\n" CHANGE,
                         "1: the mail's charset `klingon` is not known"}),
    name_of);

TEST(Mails, SayInUtf8WhatTheySayInAnotherCharset) {
  for (const std::string body : {"Content-Transfer-Encoding: 8bit\n\nd\xe9j\xe0\n",
                                 "Content-Transfer-Encoding: quoted-printable\n\nd=E9j=E0\n"}) {
    const UnifiedPatch patch =
        parse_unified("p", "From: A <a@example.org>\nSubject: =?iso-8859-1?q?=E9t=E9?=\n" LATIN +
                               body + "---\n" CHANGE);
    ASSERT_TRUE(patch.errors.empty()) << patch.errors[0].message;
    EXPECT_EQ(patch.subject, "\xc3\xa9t\xc3\xa9");
    EXPECT_EQ(patch.why, "d\xc3\xa9j\xc3\xa0");
  }
}

// As `git am` reads them.
TEST(Mails, FlowAsTheySay) {
  const UnifiedPatch patch = parse_unified(
      "p", HEAD
      "Content-Type: text/plain; format=flowed; charset=utf-8\n\nOne \nline.\n---\n"
      "--- a/a.cpp\n+++ b/a.cpp\n@@ -1,2 +1,2 @@\n  int a;\n-int b;\n+int \nc;\n-- \n2.39\n");
  ASSERT_TRUE(patch.errors.empty()) << patch.errors[0].message;
  EXPECT_EQ(patch.why, "One line.");
  EXPECT_EQ(patch.files.at(0).side('+'), "int a;\nint c;\n");
}

TEST(Mails, HaveTheirNamesPrefixesAsTheSeriesSays) {
  EXPECT_EQ(read("--- s/f.orig\n+++ s/f\n" HUNK, 1), "f -> f");
  EXPECT_EQ(read("--- s/f.orig\n+++ s/f\n" HUNK, 0), "s/f -> s/f");
  EXPECT_EQ(read("--- /dev/null\n+++ l/n.h\n@@ -0,0 +1 @@\n+x\n", 1), " -> n.h");
  EXPECT_EQ(read("--- /dev/null\n+++ l/n.h\n@@ -0,0 +1 @@\n+x\n", 0), " -> l/n.h");
  EXPECT_EQ(read("--- f\n+++ f\n" HUNK, 1),
            "1: the file's name cannot be told: it is empty, or too short for -p");
  EXPECT_EQ(read(CHANGE, 0),
            "1: names two files, `a/a.cpp` and `b/a.cpp`: which one does it "
            "change?");
}

TEST(Mails, AreToldFromPatchesOfOurs) {
  EXPECT_FALSE(is_unified("Subject: s\nWhy: w\n--- a.cpp\n+++ a.cpp\n@@ f @@\n-a\n+b\n"));
  EXPECT_FALSE(is_unified("Subject: s\nWhy: w\n--- a.cpp\n+++ a.cpp\n\n@@ f @@\n-a\n+b\n"));
  EXPECT_FALSE(is_unified("Subject: s\nWhy: w\ninstall: a -> b\n" CHANGE));
  EXPECT_FALSE(is_unified("Subject: s\nWhy: w\n  diff --git a/x b/x\nrename: a -> b\n"));
}

TEST(Mails, BeginAtLinesThatGitWouldTake) {
  const auto count = [](const std::string& text) { return split_mails(text).size(); };
  const std::string mail = "From 0 Mon Sep 17 00:00:00 2001\nFrom: A\nSubject: s\n\n";
  EXPECT_EQ(count(mail + mail), 2U);
  EXPECT_EQ(count("\n" + mail), 1U);
  EXPECT_EQ(count("prose\n" + mail), 2U);
  EXPECT_EQ(count(mail + "From here on\nX: y\n>From 0 Mon Sep 17 00:00:00 2001\nX: y\n"), 1U);
  EXPECT_EQ(count(mail + "From 0 Mon Sep 17 00:00:00 2001\nis how a mail begins\n"), 1U);
  EXPECT_EQ(count(""), 1U);
}

}  // namespace
}  // namespace patcher
