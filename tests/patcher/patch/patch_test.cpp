// Patch files and series files: what is accepted, and that each kind of mistake is named with its
// line.
#include "patcher/patch/patch.h"
#include "patcher/series/series.h"
#include "patcher/syntax/tokens.h"
#include "tests/case_name.h"
#include "tests/patcher/scratch.h"

namespace patcher {
namespace {

const std::string kHead = "Subject: s\nWhy: w\n\n";
const std::string kFile = "--- a.cpp\n+++ a.cpp\n";

TEST(PatchFormat, ReadsHeaderOperationsAndHunks) {
  const Patch p =
      parse_patch("p",
                  "Subject: one\nWhy: two\n  three\n\n  four\ninstall: x.h -> d/x.h\n"
                  "rename: o.cpp -> n.cpp\ndelete: gone.h\n\n--- o.cpp\n+++ n.cpp\n"
                  "@@ A::f(int, const T&) const | #else of X | 2 of 3 @@\n ctx\n\n-old\n"
                  "+new\n ...\n end\n\n");
  ASSERT_TRUE(p.usable()) << p.errors[0].message;
  EXPECT_EQ(p.subject, "one");
  EXPECT_EQ(p.why, "two\nthree\n\nfour");
  ASSERT_EQ(p.operations.size(), 3u);
  EXPECT_EQ(p.operations[0].beside, "x.h");
  EXPECT_EQ(p.operations[2].beside, "gone.h");
  ASSERT_EQ(p.changes.size(), 1u);
  const Hunk& h = p.changes[0].hunks.at(0);
  EXPECT_EQ(h.scope.name, (std::vector<std::string>{"A", "f"}));
  EXPECT_EQ(h.scope.params, (std::vector<std::string>{"int", "const T &"}));
  EXPECT_EQ(h.scope.qualifiers, "const");
  EXPECT_EQ(h.conditional, "#else of X");
  EXPECT_EQ(h.occurrence->index, 2);
  EXPECT_EQ(h.occurrence->count, 3);
  ASSERT_EQ(h.lines.size(), 6u);
  EXPECT_EQ(h.lines[4].kind, HunkLine::Kind::kSkip);
}

TEST(PatchFormat, ARemovedLineThatLooksLikeAHeaderIsARemovedLine) {
  const Patch p = parse_patch("p", kHead + kFile + "@@ file @@\n a;\n--- b;\n+x;\n");
  ASSERT_TRUE(p.usable());
  EXPECT_EQ(p.changes[0].hunks[0].lines[1].text, "-- b;");
}

TEST(PatchFormat, OfAFileThatIsNoPatchTheFirstMistakesAreListed) {
  std::string junk = "Subject: s\nWhy: w\n\n";
  for (int i = 0; i < 10'000; ++i)
    junk += "x: y\n";
  const Patch patch = parse_patch("p", junk);
  EXPECT_EQ(patch.errors.size(), 101u);
  EXPECT_EQ(patch.errors.back().message, "more is wrong from here on");
}

struct Mistake {
  const char* text;
  Verdict verdict;
  int line;
  const char* words;
};

class Mistakes : public testing::TestWithParam<Mistake> {};

TEST_P(Mistakes, AreNamed) {
  const Mistake& m = GetParam();
  const Patch p = parse_patch("p", m.text);
  ASSERT_FALSE(p.usable());
  EXPECT_EQ(p.errors[0].verdict, m.verdict) << p.errors[0].message;
  EXPECT_EQ(p.errors[0].origin.line, m.line);
  EXPECT_NE(p.errors[0].message.find(m.words), std::string::npos) << p.errors[0].message;
}

#define HEAD "Subject: s\nWhy: w\n"
#define FILE_A "--- a.cpp\n+++ a.cpp\n"
INSTANTIATE_TEST_SUITE_P(
    All, Mistakes,
    testing::Values(
        Mistake{"Why: w\n" FILE_A "@@ file @@\n-a\n+b\n", Verdict::kMalformed, 1, "Subject"},
        Mistake{"Subject: s\n" FILE_A "@@ file @@\n-a\n+b\n", Verdict::kMalformed, 1, "Why"},
        Mistake{HEAD "Author: me\n", Verdict::kMalformed, 3, "unknown key `Author`"},
        Mistake{HEAD "just words\n", Verdict::kMalformed, 3, "expected `key: value`"},
        Mistake{HEAD "Subject: t\n", Verdict::kMalformed, 3, "given twice"},
        Mistake{HEAD "install: x\n", Verdict::kMalformed, 3, "install: FILE -> PATH"},
        Mistake{HEAD "install: x -> ../y\n", Verdict::kUnsafePath, 3, "../y"},
        Mistake{HEAD "install: /etc/passwd -> y\n", Verdict::kUnsafePath, 3, "/etc/passwd"},
        Mistake{HEAD, Verdict::kNoEffect, 1, "changes nothing"},
        Mistake{HEAD "--- a.cpp\n+++ b.cpp\n@@ file @@\n-a\n+b\n", Verdict::kMalformed, 3,
                "differ"},
        Mistake{HEAD FILE_A, Verdict::kMalformed, 3, "without a hunk"},
        Mistake{HEAD FILE_A "@@ -1,2 +1,2 @@\n-a\n+b\n", Verdict::kMalformed, 5, "is not a scope"},
        Mistake{HEAD FILE_A "@@ file\n-a\n+b\n", Verdict::kMalformed, 5, "expected `@@ scope @@`"},
        Mistake{HEAD FILE_A "@@ f | 3 of 2 @@\n-a\n+b\n", Verdict::kMalformed, 5, "neither"},
        Mistake{HEAD FILE_A "@@ f( @@\n-a\n+b\n", Verdict::kMalformed, 5, "is not a scope"},
        Mistake{HEAD FILE_A "@@ f @@\n+b\n", Verdict::kMalformed, 5, "no anchor"},
        Mistake{HEAD FILE_A "@@ f @@\n b\n", Verdict::kNoEffect, 5, "no `-` and no `+`"},
        Mistake{HEAD FILE_A "@@ f @@\n-a\n+a\n", Verdict::kNoEffect, 5, "equal"},
        Mistake{HEAD FILE_A "@@ f @@\n-a\n b\n", Verdict::kMalformed, 5, "before and after"},
        Mistake{HEAD FILE_A "@@ f @@\n ...\n-a\n+b\n", Verdict::kMalformed, 6, "between two"},
        Mistake{HEAD FILE_A "@@ f @@\n-a\n+b\n#x\n", Verdict::kMalformed, 8, "begins with"},
        Mistake{HEAD FILE_A "@@ f @@\n-a\n+b\n" FILE_A "@@ g @@\n-a\n+b\n", Verdict::kMalformed, 8,
                "two sections"}),
    [](const auto& test) { return case_name(test.index, test.param.words); });

TEST(PatchFormat, ReversingTwiceGivesThePatchAgain) {
  const Patch p = parse_patch("p", kHead + kFile + "@@ f @@\n-a\n+b\n c\n");
  const Patch q = reversed(reversed(p));
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(p.changes[0].hunks[0].lines[i].kind, q.changes[0].hunks[0].lines[i].kind);
  }
}

TEST(PatchFormat, AnyBytesParseWithoutHarm) {
  unsigned seed = 1;
  const std::string alphabet = "-+ @|#:\n\r\taf(){}<>,.\"'/*\\\xff";
  for (int round = 0; round < 3000; ++round) {
    std::string text = round % 2 == 0 ? "" : kHead + kFile;
    for (int i = 0; i < 80; ++i) {
      seed = seed * 1664525u + 1013904223u;
      text += alphabet[(seed >> 16) % alphabet.size()];
    }
    parse_patch("p", text);
    tokenize(text, Language::kCpp);
  }
}

TEST(SeriesFormat, IsNamesBlanksAndComments) {
  const auto lines = parse_series("# head\r\n\r\n  a.patch  # why\n\tb#1.patch\nc.patch");
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(lines[0].name, "a.patch");
  EXPECT_EQ(lines[0].line, 3);
  EXPECT_EQ(lines[1].name, "b#1.patch");
  EXPECT_EQ(lines[2].name, "c.patch");
}

TEST(SeriesFormat, TakesAByteOrderMarkAndQuiltsOptions) {
  const auto lines = parse_series(
      "\xEF\xBB\xBF"
      "a.patch\nb.patch\t-p0  # why\n-x\nmy fix.patch -p1 -R\n");
  ASSERT_EQ(lines.size(), 4u);
  EXPECT_EQ(lines[0].name, "a.patch");
  EXPECT_EQ(lines[1].name, "b.patch");
  EXPECT_EQ(lines[1].options, "-p0");
  EXPECT_EQ(lines[2].name, "-x");
  EXPECT_EQ(lines[3].name, "my fix.patch");
  EXPECT_EQ(lines[3].options, "-p1 -R");
}

TEST(PatchFormat, TakesAByteOrderMark) {
  EXPECT_TRUE(parse_patch("p", "\xEF\xBB\xBF" + kHead + kFile + "@@ f @@\n-a\n+b\n").usable());
}

TEST(SafePaths, StayInTheTree) {
  for (const char* path : {"a", "a/b.c", "..a/b", "a..b", "-x"})
    EXPECT_TRUE(is_safe_path(path)) << path;
  for (const char* path : {"", "/a", "a/", "../a", "a/../b", "a/..", "./a", "a//b", "a\\b", "C:x",
                           "a\nb", ".git/config", "a/.git/x", ".patcher-journal"}) {
    EXPECT_FALSE(is_safe_path(path)) << path;
  }
}

}  // namespace
}  // namespace patcher
