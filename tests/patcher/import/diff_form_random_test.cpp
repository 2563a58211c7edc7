// Random changes of random files as diffs, on the tree that they were made from: line ends, the
// last newline, indentation and names are mixed. The diff must make the change to the byte, be
// known again there, and come off.
#include <cstdlib>
#include <random>

#include "patcher/foreign/unified.h"
#include "patcher/import/diff_form.h"
#include "patcher/series/judge.h"
#include "tests/patcher/scratch.h"

namespace patcher {
namespace {

constexpr unsigned kRounds = 300;  // DIFF_TRIALS=N does N
const char* const kNames[] = {"a.c", "b/it's.cpp", "b/c d.py", "e\"f.yaml", "\xc3\xa9.cu", "g.txt"};
const char* const kLines[] = {"a();",  "\tb(1);", "    b(2);", "",       "}",      "if (x) {",
                              "/* c",  " * d",    " */",       "- e: 1", "  f: 2", "// g",
                              "\"h\\", "#if I",   "#endif",    "R\"(",   ")\";",   "j = 1;  "};

class RandomDiff {
 public:
  explicit RandomDiff(unsigned seed) : engine_(seed) {}

  SourceChange change() {
    SourceChange out{.name = "p.patch", .subject = "Change", .why = "Because."};
    const size_t first = below(std::size(kNames));
    for (size_t n = 1 + below(2); n > 0; --n)
      out.files.push_back(file(kNames[(first + n) % std::size(kNames)]));
    return out;
  }

 private:
  size_t below(size_t n) { return engine_() % n; }

  std::string line() {
    const std::string text = below(3) == 0 ? "u" + std::to_string(below(1000)) + "();"
                                           : kLines[below(std::size(kLines))];
    return text + (mixed_ && below(2) == 0 ? "\r\n" : end_);
  }

  FileVersions file(const std::string& name) {
    end_ = below(3) == 0 ? "\r\n" : "\n";
    mixed_ = below(4) == 0;
    std::vector<std::string> lines;
    for (size_t n = 4 + below(20); n > 0; --n)
      lines.push_back(line());
    FileVersions out{.path_before = name, .path_after = name, .before = joined(lines)};
    for (size_t n = 1 + below(3); n > 0; --n)
      edit(lines);
    out.after = joined(lines);
    if (below(6) == 0) out.after = out.after.substr(0, out.after.find_last_not_of("\r\n") + 1);
    if (below(8) == 0) out.mode_after = 0755;
    return out;
  }

  void edit(std::vector<std::string>& lines) {
    const auto at = lines.begin() + static_cast<std::ptrdiff_t>(below(lines.size()));
    const size_t kind = below(3);
    if (kind == 0) lines.insert(at, line());
    if (kind == 1) *at = line();
    if (kind == 2 && lines.size() > 1) lines.erase(at);
  }

  static std::string joined(const std::vector<std::string>& lines) {
    std::string out;
    for (const std::string& l : lines)
      out += l;
    return out;
  }

  std::mt19937 engine_;
  std::string end_ = "\n";
  bool mixed_ = false;
};

// The tree with one side of the change.
FileMap tree(const SourceChange& change, bool after) {
  FileMap out(std::make_shared<FileOrigin>());
  for (const FileVersions& f : change.files) {
    out.put(f.path_after,
            {.source = std::make_shared<Source>(f.path_after, after ? f.after : f.before),
             .mode = after ? f.mode_after : f.mode_before});
  }
  return out;
}

TEST(RandomDiffs, MakeTheirChangeAndComeOff) {
  const char* more = std::getenv("DIFF_TRIALS");
  const unsigned rounds = more != nullptr ? static_cast<unsigned>(std::atoi(more)) : kRounds;
  int applied = 0;
  int refused = 0;
  for (unsigned seed = 0; seed < rounds && !testing::Test::HasFailure(); ++seed) {
    const SourceChange change = RandomDiff(seed).change();
    const FileMap before = tree(change, false);
    const FileMap after = tree(change, true);
    if (before.same_as(after)) continue;
    const std::string text = diff_form(change);
    SCOPED_TRACE(testing::Message() << "seed " << seed << "\n" << text);
    const Patch patch = patch_of("p.patch", parse_unified("p.patch", text));
    ASSERT_TRUE(patch.errors.empty() || patch.errors.front().verdict == Verdict::kNoEffect)
        << patch.errors.front().message;
    if (!patch.usable()) continue;
    const Judgement j = judge(patch, before);
    if (j.verdict != Verdict::kApplies) {
      ++refused;
      continue;
    }
    ++applied;
    EXPECT_TRUE(j.after.same_as(after));
    EXPECT_EQ(judge(patch, j.after).verdict, Verdict::kAlreadyApplied);
    const auto off = take_off(patch, j.after);
    ASSERT_TRUE(off.has_value());
    EXPECT_TRUE(off->same_as(before));
  }
  RecordProperty("applied", applied);
  RecordProperty("refused", refused);
  EXPECT_GT(applied, 40 * refused) << "of " << applied + refused;
}

// What a change of one file comes to: it must be done and taken off to the byte.
void expect_round_trip(const std::string& before, const std::string& after) {
  SourceChange change{.name = "p.patch", .subject = "Change", .why = "Because."};
  change.files.push_back(
      {.path_before = "a.txt", .path_after = "a.txt", .before = before, .after = after});
  const std::string text = diff_form(change);
  SCOPED_TRACE(text);
  const Patch patch = patch_of("p.patch", parse_unified("p.patch", text));
  const Judgement j = judge(patch, tree(change, false));
  EXPECT_EQ(j.verdict, Verdict::kApplies);
  EXPECT_TRUE(j.after.same_as(tree(change, true)));
  const auto off = take_off(patch, j.after);
  EXPECT_TRUE(off.has_value() && off->same_as(tree(change, false)));
}

// With its carriage return, as the lines before it end, as none of them does, or as the only line.
TEST(LastNewline, GoesAndComesAsTheDiffHasIt) {
  const std::string mixed = "0\r\n1\r\n2\r\n3\r\n";
  const std::vector<std::string> texts{"one\r\ntwo\r\nfour\r\n",
                                       "one\ntwo\nfour\r\n",
                                       "one\r\ntwo\r\nfour\n",
                                       "four\r\n",
                                       "four\n",
                                       mixed + "one\ntwo\nthree\nfour\n",
                                       mixed + "one\ntwo\nthree\nfour\r\n"};
  for (const std::string& ended : texts) {
    for (const bool added : {false, true}) {
      const std::string open = ended.substr(0, ended.find_last_not_of("\r\n") + 1);
      expect_round_trip(added ? open : ended, added ? ended : open);
    }
  }
}

TEST(BlankLines, AreAPlaceWhereTheyAreAllThereIs) {
  expect_round_trip("\n", "\nfive\n");
  expect_round_trip("\n", "five\n");
  expect_round_trip("\n\n\n", "\n\nx\n\n");
}

TEST(LastNewline, GoesAndComesBesideLinesThatEndOtherwise) {
  const std::string head = "one\r\ntwo\nthree\r\n";
  expect_round_trip(head + "four", head + "five\r\n");
  expect_round_trip(head + "four\r\n", head + "five");
  expect_round_trip(head + "four", head);
  expect_round_trip(head, head + "four");
}

}  // namespace
}  // namespace patcher
