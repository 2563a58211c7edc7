// Tokens, scopes, #if states, and grammar choice.
#include "patcher/syntax/source.h"
#include "patcher/hunk/anchor.h"
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
  EXPECT_EQ(texts("last\\\n  first\\\r\n"), (Strings{"last", "first"}));
  EXPECT_EQ(texts("a /* b */ c // d \\\ne\nf"), (Strings{"a", "/* b */", "c", "// d \\\ne", "f"}));
  EXPECT_EQ(texts("#include <a/b.h>\nx"), (Strings{"#", "include", "<a/b.h>", "x"}));
  EXPECT_EQ(texts(" one  two \n\n three\r\n", Language::kLines), (Strings{"one  two", "three"}));
}

TEST(Excerpt, IsShortAndWholeLetters) {
  EXPECT_EQ(excerpt("  int  x = 2;\t"), "int x = 2;");
  const std::string long_line(1'000'000, 'y');
  EXPECT_EQ(excerpt(long_line), std::string(200, 'y') + "...");
  std::string letters;
  while (letters.size() < 300)
    letters += "\xe2\x82\xac";
  EXPECT_EQ(excerpt(letters), letters.substr(0, 198) + "...");
  EXPECT_EQ(excerpt("a " + letters), "a " + letters.substr(0, 195) + "...");
  EXPECT_EQ(excerpt(std::string(5000, ' ') + "x"), "...");
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

constexpr const char* kGuarded =
    "#ifdef  __cplusplus\nextern \"C\" {\n#endif\n\nstruct a {\n  int x;\n};\n\n"
    "#if defined(__cplusplus)\n} // extern\n#endif\n";

TEST(LinkageGuards, AreReadAsIfTheyWereNotThere) {
  const Source source("a.h", kGuarded);
  EXPECT_TRUE(source.damage().empty());
  EXPECT_EQ(names("a.h", kGuarded), (Strings{"a"}));
  // Not closed: what it says counts.
  const std::string open = std::string(kGuarded).substr(0, std::string(kGuarded).find("#if def"));
  EXPECT_FALSE(Source("a.h", open).damage().empty());
}

// A guard that an edit makes or breaks changes how all else is read, not only what was edited.
TEST(LinkageGuards, AreLookedForAgainAfterAnEdit) {
  const auto guarded = std::make_shared<Source>("a.h", kGuarded);
  ASSERT_TRUE(guarded->damage().empty());
  const auto last = static_cast<uint32_t>(guarded->bytes().find("#if defined"));
  const auto size = static_cast<uint32_t>(guarded->bytes().size());
  const auto broken = Source::edited(guarded, {{last, size, ""}});
  EXPECT_EQ(broken->damage().size(), Source("a.h", broken->bytes()).damage().size());
  EXPECT_FALSE(broken->damage().empty());
  const auto again =
      Source::edited(broken, {{last, last, guarded->bytes().substr(last, size - last)}});
  EXPECT_TRUE(again->damage().empty());
}

TEST(Source, AnswersTheSameAfterItForgot) {
  const Source source("f.cpp", "void f() { a(); }\nint x = ;\nvoid g() { b(); }\n");
  const size_t scopes = source.scopes().size();
  const size_t damage = source.damage().size();
  const size_t tokens = source.tokens().size();
  source.forget();
  EXPECT_FALSE(source.has_tree());
  EXPECT_EQ(source.unreadable(), "");
  EXPECT_EQ(source.damage().size(), damage);
  EXPECT_FALSE(source.has_tree()) << "nothing was asked that takes a tree";
  EXPECT_EQ(source.tokens().size(), tokens);
  EXPECT_EQ(source.scopes().size(), scopes);
  EXPECT_TRUE(source.has_tree());
}

TEST(Source, AnEditTakenBackIsTheVersionBefore) {
  const auto old = std::make_shared<Source>("f.cpp", "int a;\n");
  const auto next = Source::edited(old, {{4, 5, "b"}});
  EXPECT_EQ(Source::edited(next, {{4, 5, "a"}}), old);
  EXPECT_NE(Source::edited(next, {{4, 5, "c"}}), old);
}

}  // namespace
}  // namespace patcher
