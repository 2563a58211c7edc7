// Tokens, scopes, #if states, grammar choice and the budgets of parsing and matching.
#include "patcher/anchor.h"
#include "patcher/locate.h"
#include "patcher/source.h"
#include "tests/patcher/scratch.h"

namespace patcher {
namespace {

std::vector<std::string> texts(std::string_view source, Language language = Language::kCpp) {
  std::vector<std::string> out;
  for (const Token& t : tokenize(source, language))
    out.emplace_back(t.text(source));
  return out;
}

std::vector<std::string> names(const std::string& path, const std::string& bytes) {
  const Source source(path, bytes);
  std::vector<std::string> out;
  for (const Scope& s : source.scopes())
    out.push_back(s.display());
  return out;
}

using Strings = std::vector<std::string>;

TEST(Tokens, AreThoseOfTheLanguage) {
  EXPECT_EQ(texts("a->b<<=c::d"), (Strings{"a", "->", "b", "<<=", "c", "::", "d"}));
  EXPECT_EQ(texts("A<B<C>>"), texts("A < B<C> >"));
  EXPECT_EQ(texts("1'000.5e-3f+x"), (Strings{"1'000.5e-3f", "+", "x"}));
  EXPECT_EQ(texts("u8R\"x(a)\" )x\"_s 'c' \"a\\\"b\""),
            (Strings{"u8R\"x(a)\" )x\"_s", "'c'", "\"a\\\"b\""}));
  EXPECT_EQ(texts("spl\\\nit"), (Strings{"spl\\\nit"}));
  EXPECT_EQ(texts("a /* b */ c // d \\\ne\nf"), (Strings{"a", "/* b */", "c", "// d \\\ne", "f"}));
  EXPECT_EQ(texts("#include <a/b.h>\nx"), (Strings{"#", "include", "<a/b.h>", "x"}));
  EXPECT_EQ(texts(" one  two \n\n three\r\n", Language::kLines), (Strings{"one  two", "three"}));
}

TEST(Tokens, OfAPreprocessorLineAreMarked) {
  const auto tokens = tokenize("#define A b \\\n c // d\nb", Language::kCpp);
  ASSERT_EQ(tokens.size(), 7u);
  EXPECT_TRUE(tokens[3].directive);
  EXPECT_TRUE(tokens[4].directive_end);
  EXPECT_FALSE(tokens[3].directive_end);
  EXPECT_FALSE(tokens[6].directive);
}

TEST(Scopes, OfEveryKindAreFound) {
  EXPECT_EQ(names("f.cpp", "namespace a::b { namespace { void f(int x = 1, const T& y) {} } }"),
            (Strings{"a::b", "a::b::f(int, const T&)"}));
  EXPECT_EQ(names("f.cpp",
                  "template <class T> struct S { S(); ~S() {} operator bool() const { return 1; }\n"
                  "T& operator[](int i) { return d[i]; } T* d; };"),
            (Strings{"S", "S::S()", "S::~S()", "S::operator[](int)"}));
  EXPECT_EQ(
      names("f.cu", "template <int N>\n__global__ void __launch_bounds__(256) k(float* p) {}"),
      (Strings{"k(float*)"}));
  EXPECT_EQ(names("f.cpp", "int* A::g(std::span<const int> s) { return 0; }\nenum class E { kA };"),
            (Strings{"A::g(std::span<const int>)", "E"}));
}

size_t count(const std::string& bytes, const std::string& spec, const std::string& path = "f.cpp") {
  const Source source(path, bytes);
  return resolve_scope(source.scopes(), *parse_scope(spec)).size();
}

TEST(Scopes, AreNamedBySuffixSignatureAndKind) {
  const std::string text =
      "namespace n { class C { public: C() {} void f() {} void f() const {} void g(int a) {} }; }\n"
      "void f(int);\nvoid f(int) {}\nvoid f(const char* s, ...) {}\n";
  EXPECT_EQ(count(text, "C"), 1u);
  EXPECT_EQ(count(text, "C::C"), 1u);
  EXPECT_EQ(count(text, "C()"), 1u);
  EXPECT_EQ(count(text, "class C"), 1u);
  EXPECT_EQ(count(text, "namespace C"), 0u);
  EXPECT_EQ(count(text, "n::C::g(int)"), 1u);
  EXPECT_EQ(count(text, "n::C::g(int a)"), 1u);
  EXPECT_EQ(count(text, "C::f"), 2u);
  EXPECT_EQ(count(text, "C::f() const"), 1u);
  EXPECT_EQ(count(text, "f"), 4u);
  EXPECT_EQ(count(text, "::f"), 2u);
  EXPECT_EQ(count(text, "f(int)"), 1u) << "the definition, not the declaration";
  EXPECT_EQ(count(text, "f(long)"), 0u);
  EXPECT_EQ(count("void f(int);\n", "f", "f.h"), 1u) << "a declaration when there is nothing else";
}

TEST(Conditionals, NameTheirBranches) {
  const Source s("f.cpp", "#ifndef H\n#if A > 1\na\n#elif B\nb\n#else\nc\n#endif\n#endif\nd\n");
  const auto at = [&](char c) {
    return s.conditionals_at(
        static_cast<uint32_t>(s.bytes().find(std::string("\n") + c + "\n") + 1));
  };
  EXPECT_EQ(at('a'), (Strings{"#ifndef H", "#if A > 1"}));
  EXPECT_EQ(at('b'), (Strings{"#ifndef H", "#elif B"}));
  EXPECT_EQ(at('c'), (Strings{"#ifndef H", "#else of B"}));
  EXPECT_EQ(at('d'), Strings{});
}

TEST(Grammar, IsChosenByNameAndContent) {
  EXPECT_EQ(choose_language("a/b.cu", ""), Language::kCuda);
  EXPECT_EQ(choose_language("b.h", "k<<<1, 2>>>(x);"), Language::kCuda);
  EXPECT_EQ(choose_language("b.hpp", "int x;"), Language::kCpp);
  EXPECT_EQ(choose_language("b.c", ""), Language::kC);
  EXPECT_EQ(choose_language("CMakeLists.txt", ""), Language::kLines);
}

TEST(ParseBudget, LargeAndDeepFilesAreRefusedNotWaitedFor) {
  std::string table = "int t[] = {";
  while (table.size() < (5u << 20))
    table += "1,2,3,4,5,6,7,8,";
  EXPECT_NE(Source("big.cpp", table + "};\n").unreadable(), "");
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
    EXPECT_EQ(SyntaxTree::parse(text, Language::kCpp, {.steps = 5000}), nullptr);
    const auto small = SyntaxTree::parse("int x;\n", Language::kCpp, {.steps = 5000});
    ASSERT_NE(small, nullptr);
    EXPECT_TRUE(small->damage().empty());
    EXPECT_EQ(ts_node_end_byte(small->root()), 7u);
  }
  EXPECT_EQ(SyntaxTree::parse(text, Language::kCpp)->damage().size(), 2000u);
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
    const auto result =
        locate_hunk(source, lines_hunk(100, false), ScopeRule::kStrict, Failures::kAll, steps);
    EXPECT_EQ(result.failure->origin.line, 7);
    EXPECT_EQ(result.failure->place.file, "a.cpp");
    return std::pair(result.failure->verdict,
                     result.failure->message.find("beyond its budget") != std::string::npos);
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
    const auto result = locate_hunk(source, hunk, ScopeRule::kUndo);
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

}  // namespace
}  // namespace patcher
