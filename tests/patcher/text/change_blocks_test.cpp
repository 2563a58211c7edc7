#include "patcher/text/change_blocks.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "patcher/text/line_diff.h"
#include "patcher/text/lines.h"

namespace patcher {
namespace {

// Few different lines, so that runs can stand at several places.
std::string random_text(std::mt19937& rng) {
  std::string text;
  for (size_t n = rng() % 12; n > 0; --n)
    text += std::string(1, static_cast<char>('a' + rng() % 3)) + (rng() % 9 == 0 ? "\r\n" : "\n");
  if (rng() % 4 == 0) text += "end";
  return text;
}

std::string lines_of(std::string_view text, size_t begin, size_t end) {
  if (text.empty()) return {};
  const Lines lines(text);
  const auto at = [&](size_t l) { return l < lines.count() ? lines.begin(l) : text.size(); };
  return std::string(text.substr(at(begin), at(end) - at(begin)));
}

std::string redone(std::string_view before, std::string_view after, Placing placing) {
  std::string out;
  size_t at = 0;
  for (const ChangeBlock& b : change_blocks(before, after, placing)) {
    out += lines_of(before, at, b.before_begin) + lines_of(after, b.after_begin, b.after_end);
    at = b.before_end;
  }
  return out + lines_of(before, at, SIZE_MAX);
}

TEST(ChangeBlocks, MakeOneTextOfTheOther) {
  std::mt19937 rng(1);
  for (int i = 0; i < 3000; ++i) {
    const std::string before = random_text(rng);
    const std::string after = random_text(rng);
    for (const Placing placing : {Placing::kAsGit, Placing::kAnywhere})
      ASSERT_EQ(redone(before, after, placing), after) << before << "---\n" << after;
  }
}

TEST(ChangeBlocks, StandWhereGitPutsThem) {
  const std::string before = "int f() {\n  a();\n}\n\nint h() {\n  a();\n}\n";
  const std::string after =
      "int f() {\n  a();\n}\n\nint g() {\n  a();\n}\n\nint h() {\n  a();\n}\n";
  const auto blocks = change_blocks(before, after);
  ASSERT_EQ(blocks.size(), 1u);
  EXPECT_EQ(blocks[0].after_begin, 4u);
  EXPECT_EQ(blocks[0].after_end, 8u);
}

TEST(LineDiff, HunksHaveThreeLinesOfContextAndJoinWhereThoseMeet) {
  std::string before;
  for (int i = 0; i < 40; ++i)
    before += std::to_string(i) + "\n";
  std::string after = before;
  after.replace(after.find("10\n"), 3, "x\n");
  after.replace(after.find("17\n"), 3, "y\n");  // six lines between them
  after.replace(after.find("25\n"), 3, "z\n");  // seven
  const auto hunks = diff_hunks(before, after);
  ASSERT_EQ(hunks.size(), 2u);
  EXPECT_EQ(hunks[0].before_line, 7u);
  EXPECT_EQ(hunks[0].lines.size(), 3u + 2 + 6 + 2 + 3);
  EXPECT_EQ(hunks[1].before_line, 22u);
  EXPECT_EQ(hunks[1].lines[3].kind, '-');
  EXPECT_EQ(hunks[1].lines[4].text, "z\n");
}

}  // namespace
}  // namespace patcher
