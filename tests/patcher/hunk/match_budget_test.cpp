// What is too large, or would take too long, is refused: counted in bytes and steps, not in
// seconds.
#include "patcher/hunk/anchor.h"
#include "patcher/hunk/explain.h"
#include "patcher/series/series.h"
#include "patcher/syntax/source.h"
#include "tests/patcher/scratch.h"

namespace patcher {
namespace {

TEST(ParseBudget, DeepFilesAreRefusedNotWaitedFor) {
  const Source deep("deep.cpp", "int x = " + std::string(100000, '(') + ";\nint y;\n");
  EXPECT_TRUE(!deep.unreadable().empty() || !deep.damage().empty());
}

// Counted in steps, so that the same file is refused on every machine; what a refused text left in
// the parser does not reach the next one.
TEST(ParseBudget, CountsStepsAndLeavesNothingBehind) {
  std::string text;
  for (int i = 0; i < 2000; ++i)
    text += "int f" + std::to_string(i) + "() { return 1 }\n";
  for (int again = 0; again < 2; ++again) {
    EXPECT_EQ(SyntaxTree::parse(text, Language::kCpp, {}, {.steps = 5000}), nullptr);
    const auto small = SyntaxTree::parse("int x;\n", Language::kCpp, {}, {.steps = 5000});
    ASSERT_NE(small, nullptr);
    EXPECT_TRUE(small->damage().empty());
    EXPECT_EQ(ts_node_end_byte(small->root()), 7u);
  }
  EXPECT_EQ(SyntaxTree::parse(text, Language::kCpp)->damage().size(), 2000u);
}

// A file that is too large to be parsed has tokens, and the scope `file`.
TEST(ParseBudget, LargeFilesAreReadByTokens) {
  std::string text;
  for (int i = 0; text.size() < (5u << 20); ++i)
    text += "int f" + std::to_string(i) + "() { return " + std::to_string(i) + "; }\n";
  Scratch s;
  s.file("big.cpp", text);
  s.patch("1.patch",
          "--- big.cpp\n+++ big.cpp\n@@ file @@\n-int f70000() { return 70000; }\n"
          "+int f70000() { return 1; }\n");
  EXPECT_EQ(s.run({"check"}), 0) << s.err;
  EXPECT_NE((s.out + s.err).find("placed by tokens alone"), std::string::npos) << s.out << s.err;
  Scratch named;
  named.file("big.cpp", text);
  named.patch("1.patch", "--- big.cpp\n+++ big.cpp\n@@ f70000 @@\n-return 70000;\n+return 1;\n");
  EXPECT_EQ(named.run({"check"}), exit_code(Verdict::kMalformed));
  EXPECT_NE(named.err.find("has the one scope `file`"), std::string::npos) << named.err;
}

// Tried place by place, this would take longer than the age of the universe.
TEST(MatchBudget, ManySkipsOverManyPlacesAreDecidedAtOnce) {
  Hunk hunk{.lines = {{.text = "a;"}}};
  for (int i = 0; i < 20; ++i) {
    hunk.lines.push_back({.kind = HunkLine::Kind::kSkip, .text = "..."});
    hunk.lines.push_back({.text = "a;"});
  }
  std::string text;
  for (int i = 0; i < 300; ++i)
    text += "a;\n";
  const Source source("a.cpp", text);
  const CodeRange all{0, static_cast<uint32_t>(source.code().size())};
  const auto matches = [&] {
    return find_matches(source, make_side(hunk, Language::kCpp, HunkLine::Kind::kRemoved), {all});
  };
  EXPECT_EQ(matches().size(), kMaxMatches);
  hunk.lines.push_back({.kind = HunkLine::Kind::kSkip, .text = "..."});
  hunk.lines.push_back({.text = "b;"});
  EXPECT_TRUE(matches().empty());
}

Hunk lines_hunk(size_t as, bool skip) {
  Hunk hunk{.scope = *parse_scope("file"), .line = 7};
  for (size_t i = 0; i < as; ++i)
    hunk.lines.push_back({.text = "a;"});
  if (skip) hunk.lines.push_back({.kind = HunkLine::Kind::kSkip, .text = "..."});
  hunk.lines.push_back({.text = "b;"});
  hunk.lines.push_back({.kind = HunkLine::Kind::kAdded, .text = "c;"});
  return hunk;
}

std::string lines_text(size_t as) {
  std::string text;
  for (size_t i = 0; i < as; ++i)
    text += "a;\n";
  return text;
}

// Each of the places has the whole file before it; walked through for each it would be the square.
TEST(MatchBudget, TheWayOverASkipIsWalkedOnce) {
  const Source source("a.cpp", "{ x(" + lines_text(5000) + ") }\n" + lines_text(5000) + "b;\n");
  const Side side = make_side(lines_hunk(1, true), Language::kCpp, HunkLine::Kind::kRemoved);
  const auto tokens = static_cast<uint32_t>(source.code().size());
  uint64_t steps = 1'000'000'000;
  const auto found = find_matches(source, side, {{0, tokens}}, Compare::kExact, &steps);
  EXPECT_EQ(found.size(), kMaxMatches);  // of the 5,000 in the same block as `b;`
  EXPECT_EQ(found.front().code.front(), 5000u * 2 + 5);
  EXPECT_LT(1'000'000'000 - steps, 100 * tokens);
}

TEST(MatchBudget, WhatRepeatsItselfTooOftenIsRefusedNotWaitedFor) {
  const Source source("a.cpp", lines_text(1000));
  const auto verdict = [&](uint64_t steps) {
    const Hunk hunk = lines_hunk(100, false);
    const Placement result = place_hunk(source, hunk, ScopeRule::kStrict, steps);
    const Finding told = explain(source, hunk, ScopeRule::kStrict, *result.failure);
    EXPECT_EQ(told.origin.line, 7);
    EXPECT_EQ(told.place.file, "a.cpp");
    return std::pair(result.failure->verdict(),
                     told.message.find("beyond its budget") != std::string::npos);
  };
  EXPECT_EQ(verdict(10'000), std::pair(Verdict::kAmbiguous, true));
  EXPECT_EQ(verdict(kMatchSteps), std::pair(Verdict::kMissing, false));
}

// Lines that would take too long to pair are replaced as a whole: in the patch's spacing, where a
// pair keeps the tree's.
TEST(MatchBudget, VeryLongLinesAreNotPaired) {
  const auto replaced = [](size_t names_per_line) {
    Hunk hunk{.scope = *parse_scope("file")};
    std::string there;
    for (const char* last : {"old);", "new);"}) {
      for (size_t line = 0; line < 20; ++line) {
        std::string text = "f" + std::to_string(line) + "(";
        for (size_t i = 0; i < names_per_line; ++i)
          text += "a, ";
        text += last;
        const bool old = last[0] == 'o';
        if (old)
          there += "f" + std::to_string(line) + " (" + text.substr(text.find('(') + 1) + "\n";
        hunk.lines.push_back(
            {.kind = old ? HunkLine::Kind::kRemoved : HunkLine::Kind::kAdded, .text = text});
      }
    }
    hunk.lines.push_back({.text = "end;"});
    const Source source("a.cpp", there + "end;\n");
    const auto result = place_hunk(source, hunk, ScopeRule::kUndo);
    EXPECT_FALSE(result.failure.has_value());
    return result.edits.size();
  };
  EXPECT_EQ(replaced(5), 20u);
  EXPECT_EQ(replaced(900), 1u);
}

TEST(Reparse, GivesTheTreeOfAFreshParse) {
  const auto old = std::make_shared<Source>("f.cpp", "void f() { a(); }\nvoid g() { b(); }\n");
  ASSERT_EQ(old->scopes().size(), 2u);
  const auto next =
      Source::edited(old, {{11, 15, "if (x) { a(); }"}, {18, 18, "int h() { return 1; }\n"}});
  const Source fresh("f.cpp", next->bytes());
  ASSERT_EQ(next->scopes().size(), 3u);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(next->scopes()[i].begin, fresh.scopes()[i].begin);
    EXPECT_EQ(next->scopes()[i].display(), fresh.scopes()[i].display());
  }
}

// A sparse file: nothing is read of it.
class PatchSize : public testing::Test {
 protected:
  PatchSize() {
    s.patch("1.patch", "--- a.cpp\n+++ a.cpp\n@@ file @@\n-int a;\n+int b;\n");
    s.file("a.cpp", "int a;\n");
    std::filesystem::resize_file(path(), kMaxPatchBytes + 1);
  }
  std::string path() const { return (s.patches() / "1.patch").string(); }
  Scratch s;
};

TEST_F(PatchSize, IsLimitedInASeries) {
  EXPECT_EQ(s.run({"check"}), exit_code(Verdict::kMalformed));
  EXPECT_NE(s.err.find("series:1:1: error: malformed"), std::string::npos) << s.err;
  EXPECT_NE(s.err.find("`1.patch` has 16777217 bytes; a patch has at most 16 MiB"),
            std::string::npos)
      << s.err;
}

TEST_F(PatchSize, IsLimitedInAnImport) {
  const std::string made = (s.directory() / "made").string();
  EXPECT_EQ(
      s.run_plain({"patcher", "import", "--base", s.root().string(), "--out-dir", made, path()}),
      exit_code(Verdict::kMalformed));
  EXPECT_NE(s.err.find("at most 16 MiB"), std::string::npos) << s.err;
  EXPECT_FALSE(std::filesystem::exists(made));
}

}  // namespace
}  // namespace patcher
