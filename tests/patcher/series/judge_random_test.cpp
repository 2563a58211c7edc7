// Random edits of random functions, written as patches by hand's rules: a hunk with some context in
// the scope of its function. Whenever such a patch applies, the result must be the edited text to
// the byte, also in a tree where other functions have changed since and indentation and line ends
// are others; it must be recognised there, and come off. Refusals are counted and are no failure:
// statements come from a small pool, so that many hunks have more than one place.
#include <random>

#include "patcher/series/judge.h"
#include "tests/patcher/one_file.h"
#include "tests/patcher/scratch.h"

namespace patcher {
namespace {

using Lines = std::vector<std::string>;

class Random {
 public:
  explicit Random(unsigned seed) : engine_(seed) {}
  size_t below(size_t n) { return engine_() % n; }
  bool one_in(size_t n) { return below(n) == 0; }

 private:
  std::mt19937 engine_;
};

// A statement; in a block it is indented further.
std::string statement(Random& random, size_t depth) {
  static const char* const kPool[] = {"a();",
                                      "b(1);",
                                      "b(2);",
                                      "x = y + 1;",
                                      "return x;",
                                      "s(\"t\");",
                                      "int x = 0;  // start",
                                      "// only words",
                                      "",
                                      "call(a, b); /* both */"};
  const std::string text = random.one_in(3) ? "u" + std::to_string(random.below(1000)) + "();"
                                            : kPool[random.below(std::size(kPool))];
  const std::string blanks = random.one_in(8) ? (random.one_in(2) ? "  " : "\t") : "";
  return text.empty() ? text : std::string(2 * depth, ' ') + text + blanks;
}

void block(Random& random, size_t depth, Lines& out) {
  for (size_t n = 2 + random.below(4); n > 0; --n) {
    if (depth < 3 && random.one_in(5)) {
      out.push_back(std::string(2 * depth, ' ') + "if (c" + std::to_string(random.below(3)) +
                    ") {");
      block(random, depth + 1, out);
      out.push_back(std::string(2 * depth, ' ') + "}");
    } else {
      out.push_back(statement(random, depth));
    }
  }
}

Lines function(Random& random, size_t number) {
  Lines out{"void f" + std::to_string(number) + "(int n) {"};
  block(random, 1, out);
  out.push_back("}");
  return out;
}

struct Edit {
  size_t first = 0;  // lines [first, last) of the function become `added`
  size_t last = 0;
  Lines added;
};

// Of a statement after line `i`.
size_t depth_after(const Lines& f, size_t i) {
  while (f[i].find_first_not_of(' ') == std::string::npos)
    --i;
  return f[i].find_first_not_of(' ') / 2 + (f[i].ends_with('{') ? 1 : 0);
}

bool is_statement(const std::string& line) {
  return !line.ends_with('{') && !line.ends_with('}');
}

Edit random_edit(Random& random, const Lines& f) {
  Edit edit;
  edit.first = edit.last = 1 + random.below(f.size() - 1);
  for (size_t n = random.below(3); n > 0 && edit.last + 1 < f.size() && is_statement(f[edit.last]);
       --n)
    ++edit.last;
  const size_t depth = depth_after(f, edit.first - 1);
  for (size_t n = random.below(3); n > 0; --n)
    edit.added.push_back(statement(random, depth));
  return edit;
}

std::string hunk_text(Random& random, const Lines& f, const Edit& edit) {
  std::string out;
  const size_t before = std::min(edit.first, random.below(4));
  for (size_t i = edit.first - before; i < edit.first; ++i)
    out += " " + f[i] + "\n";
  for (size_t i = edit.first; i < edit.last; ++i)
    out += "-" + f[i] + "\n";
  for (const std::string& line : edit.added)
    out += "+" + line + "\n";
  for (size_t i = edit.last; i < std::min(f.size(), edit.last + random.below(4)); ++i)
    out += " " + f[i] + "\n";
  return out;
}

Lines edited(const Lines& f, const Edit& edit) {
  Lines out(f.begin(), f.begin() + static_cast<std::ptrdiff_t>(edit.first));
  out.insert(out.end(), edit.added.begin(), edit.added.end());
  out.insert(out.end(), f.begin() + static_cast<std::ptrdiff_t>(edit.last), f.end());
  return out;
}

// How a tree writes the same code.
struct Dress {
  const char* name;
  std::string indent = "  ";
  std::string end = "\n";
};

std::string dressed(const std::vector<Lines>& functions, const Dress& dress) {
  std::string out;
  for (const Lines& f : functions) {
    for (const std::string& line : f) {
      const size_t blanks = std::min(line.find_first_not_of(' '), line.size());
      for (size_t i = 0; i < blanks / 2; ++i)
        out += dress.indent;
      out += line.substr(blanks) + dress.end;
    }
  }
  return out;
}

constexpr unsigned kRounds = 500;

struct Outcome {
  int applied = 0;
  int refused = 0;
};

void judge_one(const Patch& patch, const std::string& before, const std::string& after,
               Outcome& outcome) {
  const FileMap tree(std::make_shared<OneFile>(before));
  const Judgement j = judge(patch, tree);
  if (j.verdict != Verdict::kApplies) {
    ++outcome.refused;
    return;
  }
  ++outcome.applied;
  EXPECT_EQ(j.after.get("f.cpp").source->bytes(), after) << "from\n" << before;
  EXPECT_EQ(judge(patch, j.after).verdict, Verdict::kAlreadyApplied) << before;
  const auto off = take_off(patch, j.after);
  ASSERT_TRUE(off.has_value()) << before;
  EXPECT_EQ(judge(patch, *off).verdict, Verdict::kApplies);
}

class RandomEdits : public testing::TestWithParam<Dress> {};

TEST_P(RandomEdits, GiveTheEditedTextOrARefusal) {
  Outcome outcome;
  for (unsigned seed = 0; seed < kRounds && !HasFailure(); ++seed) {
    Random random(seed);
    std::vector<Lines> functions;
    for (size_t i = 0; i < 4; ++i)
      functions.push_back(function(random, i));
    const size_t at = random.below(4);
    const Edit edit = random_edit(random, functions[at]);
    const std::string hunk = hunk_text(random, functions[at], edit);
    const Patch patch = parse_patch("p", "Subject: s\nWhy: w\n--- f.cpp\n+++ f.cpp\n@@ f" +
                                             std::to_string(at) + " @@\n" + hunk);
    if (!patch.usable()) continue;
    SCOPED_TRACE(testing::Message() << "seed " << seed << "\n" << hunk);
    // Upstream has moved: the function next to it is another.
    functions[(at + 1) % 4] = function(random, (at + 1) % 4);
    const std::string before = dressed(functions, GetParam());
    functions[at] = edited(functions[at], edit);
    judge_one(patch, before, dressed(functions, GetParam()), outcome);
  }
  EXPECT_GT(outcome.applied, outcome.refused / 4);
  RecordProperty("applied", outcome.applied);
  RecordProperty("refused", outcome.refused);
}

INSTANTIATE_TEST_SUITE_P(Dresses, RandomEdits,
                         testing::Values(Dress{"Plain"},
                                         Dress{.name = "CarriageReturns", .end = "\r\n"},
                                         Dress{.name = "FourBlanks", .indent = "    "},
                                         Dress{.name = "Tabs", .indent = "\t"}),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace patcher
