// Diffs as people look at them: columns, colours, words.
#include "patcher/report/diff_view.h"
#include "tests/patcher/scratch.h"

namespace patcher {
namespace {

class Views : public testing::Test {
 protected:
  void SetUp() override {
    s.file("a.cpp", "int z;\n\nint a = one(1, 2);\n\nint y;");
    s.patch("1.patch",
            "--- a.cpp\n+++ a.cpp\n@@ file @@\n-int a = one(1, 2);\n+int a = one(1, 3);\n"
            "+int more;\n");
  }
  Scratch s;
};

TEST_F(Views, SideBySideIsTwoColumnsOfAGivenWidth) {
  ASSERT_EQ(s.run({"diff", "--side-by-side", "--width", "61"}), 0);
  EXPECT_EQ(s.out,
            "# 1.patch: 1.patch\n"
            "a.cpp\n"
            "@@ -1,5 +1,6 @@\n"
            "    1  int z;                 |     1  int z;\n"
            "    2                         |     2\n"
            "    3 -int a = one(1, 2);     |     3 +int a = one(1, 3);\n"
            "                              |     4 +int more;\n"
            "    4                         |     5\n"
            "    5  int y;                 |     6  int y;\n");
  ASSERT_EQ(s.run({"diff", "--side-by-side", "--width", "41"}), 0);
  EXPECT_TRUE(holds(s.out, "    3 -int a = one> |     3 +int a = one>\n")) << s.out;
}

// Characters of two columns, of none (an accent that combines, a joiner) and bytes that are no
// UTF-8.
TEST_F(Views, SideBySideCountsTheColumnsOfATerminal) {
  const std::string kanji = "漢字漢字漢字";
  const std::string accent = "e\u0301";
  const std::string accents = accent + accent + accent + accent + accent + accent;
  s.file("b.txt", kanji + kanji + "漢\nn" + accent + "\n🙂🙂\n\xff\n");
  s.patch("2.patch", "--- b.txt\n+++ b.txt\n@@ file @@\n-n" + accent + "\n+" + accents + accents +
                         accents + "\n");
  const auto shown = [&](const char* width) {
    EXPECT_EQ(s.run({"diff", "--side-by-side", "--width", width}), 0) << s.err;
    return s.out.substr(s.out.find("\n    1 ", s.out.find("b.txt\n")));
  };
  const std::string six = "  " + kanji;
  EXPECT_EQ(shown("43"), "\n    1" + six + "> |     1" + six + ">\n" + "    2 -n" + accent +
                             "            |\n" + "                     |     2 +" + accents +
                             accents + ">\n" + "    3  🙂🙂          |     3  🙂🙂\n" +
                             "    4  \xff             |     4  \xff\n");
  // Half of a character's columns are left: a blank.
  EXPECT_TRUE(shown("45").starts_with("\n    1" + six + ">  |     1" + six + ">\n")) << s.out;
  EXPECT_TRUE(shown("47").starts_with("\n    1" + six + "漢> |     1" + six + "漢>\n")) << s.out;
}

TEST_F(Views, ColourMarksTheWordsThatDiffer) {
  ASSERT_EQ(s.run({"diff", "--color", "always"}), 0);
  EXPECT_TRUE(holds(s.out, "\x1b[31m-int a = one(1, \x1b[7m2\x1b[27m);\x1b[0m\n")) << s.out;
  EXPECT_TRUE(holds(s.out, "\x1b[32m+int a = one(1, \x1b[7m3\x1b[27m);\x1b[0m\n"));
  EXPECT_TRUE(holds(s.out, "\x1b[32m+int more;\x1b[0m\n"));
  EXPECT_TRUE(holds(s.out, " int y;\n\\ No newline at end of file\n")) << s.out;
  // Without the colours it is the diff itself.
  std::string plain;
  for (size_t i = 0; i < s.out.size(); ++i) {
    if (s.out[i] != '\x1b') {
      plain += s.out[i];
      continue;
    }
    i = s.out.find('m', i);
  }
  ASSERT_EQ(s.run({"diff"}), 0);
  EXPECT_EQ(plain, s.out);
}

TEST(ChangedWords, OfLinesTooLongAreAllOfThem) {
  std::string left;
  for (int i = 0; i < 200; ++i)
    left += "a ";
  const std::string right = left + "b";
  EXPECT_EQ(changed_words(left, right).first, (Spans{{0, left.size()}}));
  EXPECT_EQ(changed_words("a a", "a a b").first, Spans{});
}

TEST(ChangedWords, AreRunsOfTheSmallestWords) {
  const auto [left, right] = changed_words("f(alpha, b)", "f(beta, b, c)");
  EXPECT_EQ(left, (Spans{{2, 7}}));
  EXPECT_EQ(right, (Spans{{2, 6}, {9, 12}}));
}

}  // namespace
}  // namespace patcher
