// What of a text is shown to a grammar: macros and conditionals.
#include "patcher/syntax/grammar_view.h"

#include <gtest/gtest.h>

#include "patcher/syntax/health.h"
#include "patcher/syntax/source.h"

namespace patcher {
namespace {

using Strings = std::vector<std::string>;

std::string shown(const std::string& text) {
  return shown(text, read_as(text, tokenize(text, Language::kCpp)));
}

// The text with its blanks gone and white space squeezed.
std::string read(const std::string& text) {
  return squeeze(shown(text));
}

Strings names(const Source& source) {
  Strings out;
  for (const Scope& s : source.scopes())
    out.push_back(s.display());
  return out;
}

// The damaged lines, from 1.
std::vector<int> damaged(const Source& source) {
  std::vector<int> out;
  for (const Damage& d : source.damage()) {
    for (int l = source.place(d.begin).line;
         l <= source.place(std::max(d.end, d.begin + 1) - 1).line; ++l)
      out.push_back(l);
  }
  return out;
}

TEST(Macros, ThatStandForAttributesAreBlank) {
  EXPECT_EQ(read("MY_API int f(int);"), "int f(int);");
  EXPECT_EQ(read("MY_API MY_CALL const char * f(void);"), "const char * f(void);");
  EXPECT_EQ(read("MY_API thing_t f(thing_t);"), "thing_t f(thing_t);");
  EXPECT_EQ(read("MY_API ns::thing<int> * f();"), "ns::thing<int> * f();");
  EXPECT_EQ(read("MY_API\nint f(int x) { return x; }"), "int f(int x) { return x; }");
  EXPECT_EQ(read("class MY_API Pool final : public Base {};"),
            "class Pool final : public Base {};");
  EXPECT_EQ(read("FORMAT(2, 3) static void f(int, ...);"), "static void f(int, ...);");
  EXPECT_EQ(read("void f(const float * RESTRICT x, float * RESTRICT y);"),
            "void f(const float * x, float * y);");
  EXPECT_EQ(read("int f(int x UNUSED, char *) const NOEXCEPT {}"),
            "int f(int x , char *) const {}");
  EXPECT_EQ(read("void (*f)(int) FORMAT(1, 2);"), "void (*f)(int) ;");
  EXPECT_EQ(read("constexpr INLINE value(int x) : x_(x) {}"), "constexpr value(int x) : x_(x) {}");
  EXPECT_EQ(read("CONSTEXPR20 ~value();"), "~value();");
  EXPECT_EQ(read("CONSTEXPR operator const T*() const;"), "operator const T*() const;");
  EXPECT_EQ(read("struct MY_API s {\n  int x;\n};"), "struct s { int x; };");
  EXPECT_EQ(read("NORETURN FORMAT(1, 2)\nMY_API void f(const char *, ...);"),
            "void f(const char *, ...);");
}

// A name in capitals is as often a type, and then nothing else stands for it.
TEST(Macros, AreNotTypesOrNames) {
  for (const std::string text : {"DWORD x;",
                                 "DWORD x = 1;",
                                 "FILE * f = 0;",
                                 "HANDLE open(int x) { return 0; }",
                                 "DWORD Pool::size() const { return 0; }",
                                 "DWORD const x = 3;",
                                 "static BOOL f(void);",
                                 "BOOL\nf (int x)\n{\n}",
                                 "enum E { AAA, BBB };",
                                 "enum E { AAA };",
                                 "x = (INT) f(y);",
                                 "x = AAA * b;",
                                 "case AAA: f();",
                                 "return AAA;",
                                 "struct AAA b;",
                                 "struct AAA bbb {1};",
                                 "typedef struct AAA BBB;",
                                 "CHECK(f(x));",
                                 "TEST(Pool, Grows) {\n  f();\n}",
                                 "x = MAX(a, b)\n  + 1;",
                                 "if (x)\n  RETURN(y);\nelse\n  z();",
                                 "T * CCC;",
                                 "a.BBB c;",
                                 "std::vector<INT> v;",
                                 "x = (INT)(f) (y);",
                                 "x = (INT)(LONG) AAA;",
                                 "int f(int SIZE);",
                                 "int f(const int SIZE, T COUNT);",
                                 "f(x, AAA);",
                                 "BOOL operator+(T, T);",
                                 "BOOL operator new(size_t);",
                                 "if (x) {\n  f();\n}",
                                 "enum E {\n  AAA\n};",
                                 "unsigned (*f)(int);"}) {
    EXPECT_EQ(shown(text), text);
  }
}

TEST(Macros, InStringsCallsAndStatementsAreBlank) {
  EXPECT_EQ(read("f(\"no \" NAME \" found: %\" PRIu64 \"!\", x);"),
            "f(\"no \" \" found: %\" \"!\", x);");
  EXPECT_EQ(read("f(\"a\" STR(x) \"b\");"), "f(\"a\" \"b\");");
  EXPECT_EQ(read("DEPRECATED(MY_API int f(int x), \"use g\");"), "int f(int x) ;");
  EXPECT_EQ(read("LOG(\"a\" << x; std::cerr << \"b\");"), "\"a\" << x; std::cerr << \"b\" ;");
  EXPECT_EQ(read("MAKE(a, , b);"), "MAKE( );");
  EXPECT_EQ(read("MAKE(unsigned int, x, \"text\");"), "MAKE( );");
  EXPECT_EQ(read("TEST(\"it grows\") { f(); }"), "{ f(); }");
  EXPECT_EQ(read("if CONSTEXPR (x) { f(); }"), "if (x) { f(); }");
  EXPECT_EQ(read("f();\nTRY { f(); }"), "f(); { f(); }");
  EXPECT_EQ(read("x = va_arg(list, char *);"), "x = va_arg(list );");
  EXPECT_EQ(read("template <typename T, ENABLE_IF(is<T>())> void f();"),
            "template <typename T, ENABLE_IF > void f();");
  EXPECT_EQ(read("f();\nBEGIN_NAMESPACE\nnamespace a {\n}\nEND_NAMESPACE\n"),
            "f(); namespace a { }");
  EXPECT_EQ(read("IMPLEMENT(a)\n\nint x;"), "int x;");
  EXPECT_EQ(read("{\n  LOCALS(int, a)\n  LOCALS(int, b)\n  f();\n}"), "{ f(); }");
  EXPECT_EQ(read("f({unsigned(x), 1});"), "f({uuuuuuuu(x), 1});");
}

TEST(Macros, DoNotMoveWhatIsNamed) {
  const std::string text =
      "MY_API thing_t first(int x) {\n  return x;\n}\n\n"
      "    DEPRECATED(MY_API struct thing * second(int), \"use third\");\n"
      "class MY_API Pool { public: int size() const { return n_; } };\n";
  const Source source("a.cpp", text);
  EXPECT_TRUE(source.damage().empty());
  EXPECT_EQ(names(source), (Strings{"first(int)", "second(int)", "Pool", "Pool::size() const"}));
  // A declaration begins with its macros, so that an anchor may hold them.
  EXPECT_EQ(source.scopes()[0].begin, text.find("MY_API thing_t"));
  EXPECT_EQ(source.scopes()[1].begin, text.find("DEPRECATED"));
}

constexpr const char* kHead = "int before() {\n  return 1;\n}\n";  // lines 1 to 3
constexpr const char* kTail = "int behind() {\n  return 2;\n}\n";

TEST(Conditionals, ThatCutThroughAStatementDamageItAlone) {
  const Source braces("a.cpp", std::string(kHead) +
                                   "int f(int v) {\n  g();\n#if FAST\n  if (v > 9) {\n#else\n"
                                   "  if (v > 99) {\n#endif\n    v = 9;\n  }\n  return v;\n}\n" +
                                   kTail);
  EXPECT_EQ(names(braces), (Strings{"before()", "f(int)", "behind()"}));
  EXPECT_EQ(damaged(braces), (std::vector<int>{6, 7, 8, 9, 10, 11, 12}));

  const Source otherwise("a.cpp",
                         "void f() {\n  if (m) a();\n#ifdef B\n  else if (n) b();\n#endif\n"
                         "  else c();\n  d();\n}\n");
  EXPECT_EQ(damaged(otherwise), (std::vector<int>{3, 4, 5, 6}));

  const Source head("a.cpp", std::string(kHead) +
                                 "#ifdef HIP\nint f(int a, int b)\n#else\n"
                                 "int f(int a)\n#endif\n{\n  return a;\n}\n" +
                                 kTail);
  EXPECT_EQ(damaged(head), (std::vector<int>{4, 5, 6, 7, 8, 9, 10, 11}));

  const Source operand("a.cpp",
                       "void f() {\n  g();\n  x = a\n#ifdef B\n    && b\n#endif\n    ;\n"
                       "  h();\n}\n");
  EXPECT_EQ(damaged(operand), (std::vector<int>{3, 4, 5, 6, 7}));
}

TEST(Conditionals, BetweenStatementsOrElementsCutNothing) {
  for (const std::string text :
       {"void f() {\n  a();\n#ifdef B\n  b();\n#else\n  c();\n#endif\n  d();\n}\n",
        "enum E {\n  A,\n#ifdef B\n  B,\n#endif\n  C\n};\n",
        "#ifdef __cplusplus\nextern \"C\" {\n#endif\nint f(int);\n#ifdef __cplusplus\n}\n#endif\n",
        "const int t[] = {\n  1,\n#ifdef B\n  2,\n#endif\n  3,\n};\n"}) {
    EXPECT_TRUE(Source("a.cpp", text).damage().empty()) << text;
  }
  // The elements of another branch are not read.
  const Source list("a.cpp",
                    "const int t[] = {\n  1,\n#ifdef B\n  2,\n#else\n  3,\n#endif\n  4,\n};\n");
  EXPECT_EQ(damaged(list), (std::vector<int>{5, 6}));
}

// What is cut in one branch ends with it; what is cut before a conditional goes on behind it.
TEST(Conditionals, InOthersCutWhatIsInTheirBranch) {
  const Source source("a.cpp",
                      "void f() {\n#ifdef A\n  a();\n#else\n  x = 1\n#ifdef B\n    + 2\n#endif\n"
                      "    ;\n  b();\n#endif\n  c();\n}\n");
  EXPECT_EQ(damaged(source), (std::vector<int>{5, 6, 7, 8, 9}));
}

// A later version is read anew where an edit changes how what it does not touch is read.
TEST(Reading, OfAnEditedTextIsThatOfTheTextItself) {
  const std::string text =
      "MY_API int f(int);\n#ifdef A\nvoid g(int a)\n#endif\n{\n  a();\n}\nLOCALS(x)\nint z;\n";
  const auto old = std::make_shared<Source>("a.cpp", text);
  ASSERT_NE(old->tree(), nullptr);
  const auto at = [&](const char* what) { return static_cast<uint32_t>(text.find(what)); };
  const std::vector<ByteEdit> edits = {
      {at("int f"), at("int f") + 4, ""},         // what follows the macro makes it one
      {at("#ifdef"), at("void g"), ""},           // leaves an #endif alone
      {at("#endif"), at("#endif") + 7, ""},       // and the other way round
      {at("\nint z"), at("\nint z") + 1, ";\n"},  // a call again
      {at("int z"), at("int z"), "+ "},          {at("a();"), at("a();") + 4, "b();"}};
  for (const ByteEdit& edit : edits) {
    const auto now = Source::edited(old, {edit});
    const Source fresh("a.cpp", now->bytes());
    EXPECT_EQ(damaged(*now), damaged(fresh)) << now->bytes();
    EXPECT_EQ(names(*now), names(fresh)) << now->bytes();
  }
}

}  // namespace
}  // namespace patcher
