#include "patcher/carry/carry_file.h"

#include <gtest/gtest.h>

#include "patcher/text/change_blocks.h"

namespace patcher {
namespace {

CarriedFile carry(const std::string& before, const std::string& after, const std::string& target) {
  const Source base("a.cpp", before);
  const Source there("a.cpp", target);
  return carry_file(base, after, there);
}

std::string carried(const std::string& before, const std::string& after,
                    const std::string& target) {
  const CarriedFile file = carry(before, after, target);
  if (file.failure) ADD_FAILURE() << file.failure->message;
  return file.bytes;
}

std::string refusal(const std::string& before, const std::string& after,
                    const std::string& target) {
  const CarriedFile file = carry(before, after, target);
  EXPECT_TRUE(file.bytes.empty());
  if (!file.failure) return "";
  return std::string(verdict_name(file.failure->verdict)) + ": " + file.failure->message;
}

std::string function(const std::string& name, const std::string& body) {
  return "int " + name + "(int x) {\n" + body + "  return x;\n}\n\n";
}

TEST(Carry, FollowsAFunctionThatMoved) {
  const std::string before = function("f", "  x += 1;\n") + function("g", "  x += 1;\n");
  const std::string after = function("f", "  x += 1;\n") + function("g", "  x += 2;\n");
  const std::string target =
      function("g", "  x += 1;\n") + function("h", "  x += 1;\n") + function("f", "  x += 1;\n");
  EXPECT_EQ(
      carried(before, after, target),
      function("g", "  x += 2;\n") + function("h", "  x += 1;\n") + function("f", "  x += 1;\n"));
}

// What stands before the function on its line is in no definition.
TEST(Carry, AFunctionsHeadMayStandBehindOtherCodeOfItsLine) {
  EXPECT_EQ(refusal("int a; int f() {\n  b();\n}\n", "int a; int f(int q) {\n  b();\n}\n",
                    "int z;\nint a; int f() {\n  b();\n}\n"),
            "missing: the changed lines are not in `f()` any more");
}

TEST(Carry, TakesTheTargetsIndentationAndLineEnds) {
  const std::string before = "void f() {\n    a(1, 2);\n    b(3, 4);\n}\n";
  const std::string after =
      "void f() {\n    a(1, 2);\n    if (x) {\n        c(5);\n    }\n    b(3, 4);\n}\n";
  EXPECT_EQ(carried(before, after, "void f() {\r\n\ta(1, 2);\r\n\tb(3, 4);\r\n}\r\n"),
            "void f() {\r\n\ta(1, 2);\r\n\tif (x) {\r\n\t\tc(5);\r\n\t}\r\n\tb(3, 4);\r\n}\r\n");
}

TEST(Carry, KeepsTheMissingLastNewline) {
  const std::string before = "int a = 1;\nint b = 2;\nint c = 3;";
  EXPECT_EQ(carried(before, "int a = 1;\nint b = 2;\nint c = 4;",
                    "int z;\nint a = 1;\nint b = 2;\nint c = 3;"),
            "int z;\nint a = 1;\nint b = 2;\nint c = 4;");
}

TEST(Carry, IsObsoleteOnlyWhereAllOfItIsThere) {
  const std::string head = "  a1(x);\n  a2(x);\n";
  const std::string middle = "  a3(x);\n  a4(x);\n";
  const std::string tail = "  b1(x);\n  b2(x);\n  b3(x);\n";
  const std::string before = function("f", head + middle + tail);
  const std::string one = function("f", head + "  one(x);\n" + middle + tail);
  const std::string both = function("f", head + "  one(x);\n" + middle + tail + "  two(x);\n");
  const std::string target =
      function("f", head + "  one(x);\n" + middle + "  other(x, 1);\n" + tail);
  EXPECT_EQ(refusal(before, one, target), "obsolete: the added lines are there already");
  EXPECT_EQ(refusal(before, both, target), "outdated: 1 of 2 changed places are there already");
}

TEST(Carry, FollowsARenamedFunctionOnlyIntoAnotherNewOne) {
  const std::string before = function("f", "  x += 1;\n  x *= 7;\n") + function("g", "  x -= 1;\n");
  const std::string after = function("f", "  x += 1;\n  x *= 8;\n") + function("g", "  x -= 1;\n");
  EXPECT_EQ(carried(before, after,
                    function("renamed", "  x += 1;\n  x *= 7;\n") + function("g", "  x -= 1;\n")),
            function("renamed", "  x += 1;\n  x *= 8;\n") + function("g", "  x -= 1;\n"));
  // g was there before: that the same lines are in it now does not make it f.
  EXPECT_EQ(refusal(before, after, function("g", "  x += 1;\n  x *= 7;\n  x -= 1;\n")),
            "missing: the changed lines are not in `f(int)` any more");
}

// Lines that stand in another function now, with all that was around them.
TEST(Carry, FollowsLinesIntoTheFunctionThatTookThem) {
  const std::string head = "  long start = begin_of(x, 1, 2);\n  long size = size_of(x, 3, 4);\n";
  const std::string tail = "  dump(start, size, 5);\n  calls(start, size);\n";
  const auto middle = [](const char* what) {
    return std::string("  start = ") + what + "(start, size, 6, 7);\n";
  };
  const std::string g = "  report(x);\n";
  const std::string before = function("f", head + middle("next") + tail) + function("g", g);
  const std::string after = function("f", head + middle("page") + tail) + function("g", g);
  EXPECT_EQ(carried(before, after, function("g", g + head + middle("next") + tail)),
            function("g", g + head + middle("page") + tail));
  EXPECT_EQ(refusal(before, after, function("g", g + middle("next"))),
            "missing: the changed lines are not in `f(int)` any more");
}

// What is added to the end of a paragraph stays there: so does git's merge have it.
TEST(Carry, StaysInItsParagraphWhereAnotherHasComeBehind) {
  const std::string mine = "  one(x, 1, 2);\n  two(x, 3, 4);\n";
  const std::string next = "\n  behind(x, 5, 6, 7, 8);\n";
  const std::string come = "\n  a(x);\n  b(x);\n  c(x);\n  d(x);\n";
  const std::string own = "  own(x);\n";
  const std::string before = function("f", mine + next);
  const std::string after = function("f", mine + own + next);
  EXPECT_EQ(carried(before, after, function("f", mine + come + next)),
            function("f", mine + own + come + next));
}

TEST(Carry, RefusesASecondCopyInTheFunction) {
  const std::string before = function("f", "  step(x, 1);\n  last(x);\n");
  const std::string after = function("f", "  step(x, 2);\n  last(x);\n");
  const std::string twice = function("f", "  step(x, 1);\n  other(x);\n  step(x, 1);\n");
  EXPECT_EQ(refusal(before, after, twice),
            "ambiguous: what surrounds the change is there more than once");
}

// A copy of what stands beside it says nothing where the long run around it is there once.
TEST(Carry, StaysBetweenItsNeighboursWhereOneHasACopyElsewhere) {
  const std::string step = "  if (status == NULL)\n    status = unknown(x);\n";
  const std::string head = "  first(x, 1, 2, 3);\n" + step;
  const std::string tail = "  if (key)\n    release(key, 4, 5);\n  if (code)\n    tell(code);\n";
  const std::string own = "  own(x);\n";
  const std::string copy = "  other(x);\n" + step + "  third(x);\n";
  EXPECT_EQ(carried(function("f", head + tail), function("f", head + own + tail),
                    function("f", copy + head + tail)),
            function("f", copy + head + own + tail));
}

// What is less deep than the line before it is not at the edge of what that line is in.
TEST(Carry, StaysBehindABlockThatIsOneLineNow) {
  const std::string mine = "    if( size > 4 )\n        return -1;\n";
  const std::string rest =
      "    for( int i = 0; i < size; i++ )\n    {\n        use( x, i );\n    }\n";
  const std::string own = "    own( size );\n";
  EXPECT_EQ(carried(function("f", mine + rest), function("f", mine + own + rest),
                    function("f",
                             "  if (size > 4) return -1;\n"
                             "  for (int i = 0; i < size; i++) {\n    use(x, i);\n  }\n")),
            function("f",
                     "  if (size > 4) return -1;\n  own( size );\n"
                     "  for (int i = 0; i < size; i++) {\n    use(x, i);\n  }\n"));
}

// The comment that leads a line belongs to it: a table's row is changed as a row.
TEST(Carry, ChangesALineThatACommentLeads) {
  const std::string rows = "  /* .free = */ NULL, // not owned\n  /* .base = */ base,\n};\n";
  const std::string changed =
      "  /* .free = */ release, // of the buffer\n  /* .base = */ base,\n};\n";
  const std::string head = "static const struct table t = {\n";
  const std::string other = "static const struct table u = {\n  /* .free = */ other,\n};\n\n";
  EXPECT_EQ(carried(head + rows, head + changed, other + head + rows), other + head + changed);
  const std::string reworded = "  /* .free = */ NULL, // nobody's\n  /* .base = */ base,\n};\n";
  EXPECT_EQ(refusal(head + rows, head + changed, other + head + reworded),
            "missing: a comment at the removed lines is another one now, or is not there");
}

// Two loops alike: what tells them apart is more than a glance away.
TEST(Carry, TellsCopiesApartByWhatIsFurtherAway) {
  const std::string loop =
      "  for (int i = 0; i < count(x); ++i) {\n    auto name = name_of(x, i);\n"
      "    if (seen(name)) { fail(name, i, x); }\n    keep(name, offset_of(x, i), size_of(x, i));\n"
      "    log(name, offset_of(x, i), size_of(x, i));\n  }\n";
  std::string changed = loop;
  changed.insert(changed.find("    if (seen"), "    if (skip(name)) { continue; }\n");
  const auto with = [&](const std::string& head, const std::string& second) {
    return function("f", head + loop + "  between(x);\n" + second);
  };
  EXPECT_EQ(carried(with("", loop), with("", changed), with("  start(x);\n", loop)),
            with("  start(x);\n", changed));
}

TEST(Carry, RefusesAFilesFirstLineWhereAnotherIsFirstNow) {
  const std::string file = "#include \"a.h\"\n#include \"b.h\"\nint x;\n";
  EXPECT_EQ(refusal(file, "#ifdef USE_A\n" + file, "#include \"impl.h\"\n" + file),
            "ambiguous: the added lines were the file's first ones; now others are");
  EXPECT_EQ(refusal(file, file + "#endif\n", file + "int y;\n"),
            "ambiguous: the added lines were the file's last ones; now others are");
}

constexpr const char* kEnum = "enum class Op {\n  kAdd = 1,\n  kMul = 2,\n  kDiv = 3,\n};\n";
constexpr const char* kEnumAfter =
    "enum class Op {\n  kAdd = 1,\n  kMul = 2,\n  kNeg = 9,\n  kDiv = 3,\n};\n";

TEST(Carry, PutsASiblingBetweenItsNeighbours) {
  const auto file =
      carry(kEnum, kEnumAfter,
            "enum class Op {\n  kZero = 0,\n  kAdd = 1,\n  kMul = 2,\n  kDiv = 3,\n};\n");
  EXPECT_EQ(
      file.bytes,
      "enum class Op {\n  kZero = 0,\n  kAdd = 1,\n  kMul = 2,\n  kNeg = 9,\n  kDiv = 3,\n};\n");
  EXPECT_TRUE(file.notes.empty());
}

TEST(Carry, PutsASiblingBesideTheNeighbourThatIsLeftAndSaysSo) {
  const auto file =
      carry(kEnum, kEnumAfter,
            "enum class Op {\n  kAdd = 1,\n  kMul = 2,\n  kSub = 8,\n  kMod = 7,\n};\n");
  ASSERT_FALSE(file.failure) << file.failure->message;
  EXPECT_EQ(
      file.bytes,
      "enum class Op {\n  kAdd = 1,\n  kMul = 2,\n  kNeg = 9,\n  kSub = 8,\n  kMod = 7,\n};\n");
  ASSERT_EQ(file.notes.size(), 1U);
  EXPECT_NE(file.notes[0].message.find("was a choice"), std::string::npos);
}

std::string note_of(const std::string& before, const std::string& after,
                    const std::string& target) {
  const CarriedFile file = carry(before, after, target);
  return file.notes.empty() ? "" : file.notes.front().message;
}

// The line next to the change is a neighbour even where all else around is new.
TEST(Carry, KnowsANeighbourByItsLine) {
  const std::string before = "#include \"a.h\"\n#include \"log.h\"\nint x;\n";
  const std::string after = "#include \"a.h\"\n#include \"b.h\"\n#include \"log.h\"\nint x;\n";
  EXPECT_EQ(carried(before, after, "#include \"a.h\"\n#include \"c.h\"\nlong y;\n"),
            "#include \"a.h\"\n#include \"b.h\"\n#include \"c.h\"\nlong y;\n");
}

// Between two paragraphs of which one has grown.
TEST(Carry, StaysBetweenParagraphs) {
  const std::string head = "#include <first.h>\n#include <second.h>\n";
  const std::string tail = "\nint f(int x) {\n  return g(x, 1, 2, 3);\n}\n";
  const std::string added = "\n#include \"own.h\"\n";
  const std::string grown = head + "#include <third.h>\n";
  EXPECT_EQ(carried(head + tail, head + added + tail, grown + tail), grown + added + tail);
  EXPECT_EQ(note_of(head + tail, head + added + tail, grown + tail),
            "other lines are between the neighbours of the lines added at line 4 now; that they "
            "stand at the blank line was a choice");
  // A paragraph of its own between the two: before it or behind it?
  EXPECT_EQ(refusal(head + tail, head + added + tail, head + "\n#include <third.h>\n" + tail),
            "ambiguous: what stood before the change and what stood after it are apart now");
}

TEST(Carry, IsNotTheLastOfATypeWhereOthersAre) {
  const std::string head = "struct s {\n  int first_field;\n  int second_field;\n";
  EXPECT_EQ(refusal(head + "};\n", head + "  int own;\n};\n", head + "  int third;\n};\n"),
            "ambiguous: what stood before the change and what stood after it are apart now");
}

// The neighbour that is left says where only if it is where it was itself.
TEST(Carry, DoesNotFollowANeighbourIntoAnotherBlock) {
  const std::string before = function("f", "  start(x);\n  work(x, 1, 2, 3, 4);\n");
  const std::string after = function("f", "  start(x);\n  own();\n  work(x, 1, 2, 3, 4);\n");
  EXPECT_EQ(refusal(before, after,
                    function("f", "  begin(x);\n  if (x) {\n    work(x, 1, 2, 3, 4);\n  }\n")),
            "missing: the neighbour that is left is in another block now");
  EXPECT_EQ(carried(before, after, function("f", "  begin(x);\n  work(x, 1, 2, 3, 4);\n")),
            function("f", "  begin(x);\n  own();\n  work(x, 1, 2, 3, 4);\n"));
}

// A neighbour that was replaced is one thing, one that others have pushed away another.
TEST(Carry, DoesNotChooseAmongWhatHasComeBetween) {
  const std::string head = "  start(x, 1, 2);\n";
  const std::string left = "  near(x, 1, 2, 3, 4, 5);\n";
  const std::string right = "  behind(x, 1, 2, 3, 4, 5, 6, 7, 8);\n";
  const std::string before = function("f", head + left + right);
  const std::string after = function("f", head + left + "  own();\n" + right);
  EXPECT_EQ(carried(before, after, function("f", head + "  nearer(x);\n" + right)),
            function("f", head + "  nearer(x);\n  own();\n" + right));
  std::string many;
  for (const char* name : {"a", "b", "c", "d", "e"})
    many += std::string("  ") + name + "(x);\n";
  EXPECT_EQ(refusal(before, after, function("f", head + many + right)),
            "ambiguous: one neighbour of the added lines is gone, and others have come between it "
            "and the one that is left");
}

// That an #endif stands before the neighbour again does not make it the one that was there.
TEST(Carry, DoesNotTakeAnyEndForTheNeighbour) {
  const std::string head = "#if !defined(FIRST_OF_ALL)\n#define SECOND 2\n#endif\n";
  const std::string tail = "\n#ifdef LAST_OF_ALL\nint last_of_all(int x, int y);\n#endif\n";
  const std::string gone = "#if defined(ONE) || defined(TWO)\n#define THREE 3\n#endif\n";
  const std::string own = "\n#ifdef OWN\n#define OWN_TOO 1\n#endif\n";
  std::string other;
  for (const char* name : {"A", "B", "C"})
    other += std::string("#if X_") + name + "\n#define Y_" + name + "\n#endif\n";
  EXPECT_EQ(refusal(head + gone + tail, head + gone + own + tail, head + other + tail),
            "ambiguous: one neighbour of the added lines is gone, and others have come between it "
            "and the one that is left");
}

// Of two ends of conditionals the inner one is gone: the outer one is not that.
TEST(Carry, DoesNotGoBehindTheIncludeGuard) {
  const std::string head =
      "#ifndef GUARD_H\n#define GUARD_H\n\nint first(int x, int y, int z);\n"
      "int second(struct a *x,\n           struct b *y);\n";
  const std::string inner =
      "#ifdef OPTION\nint third(struct a *x,\n          struct b *y);\n#endif /* OPTION */\n";
  const std::string own = "\nint fourth(struct a *x,\n           struct b *y);\n";
  const std::string end = "#endif /* GUARD_H */\n";
  EXPECT_EQ(refusal(head + inner + end, head + inner + own + end, head + end),
            "missing: the neighbour that is left is in another block now");
}

TEST(Carry, KnowsNeighboursOfAFileWithoutAGrammar) {
  const auto in = [](const char* what, const std::string& before, const std::string& after,
                     const std::string& target) {
    const Source base("CMakeLists.txt", before);
    const Source there("CMakeLists.txt", target);
    const CarriedFile file = carry_file(base, after, there);
    EXPECT_EQ(!file.failure, std::string(what).empty());
    return file.failure ? file.failure->message : file.bytes;
  };
  const std::string before = "if(A)\n  message(x)\nendif()\nadd(one)\nadd(two)\n";
  const std::string after = "if(A)\n  message(x)\nendif()\nown()\nadd(one)\nadd(two)\n";
  EXPECT_EQ(in("", before, after, "set(z)\nif(A)\n  message(x)\nendif()\nadd(1)\nadd(2)\n"),
            "set(z)\nif(A)\n  message(x)\nendif()\nown()\nadd(1)\nadd(2)\n");
  EXPECT_EQ(in("refused", "start()\nadd(one)\nadd(two)\nadd(three)\n",
               "start()\nown()\nadd(one)\nadd(two)\nadd(three)\n",
               "begin()\nif(B)\n  add(one)\n  add(two)\n  add(three)\nendif()\n"),
            "the neighbour that is left is in another block now");
}

TEST(Carry, TakesAwayTheLastNewlineAsTheChangeDoes) {
  const std::string before = "int a = 1;\nint b = 2;\nint c = 3;\n";
  const std::string after = before + "int d = 4;";
  EXPECT_EQ(carried(before, after, "int z;\n" + before), "int z;\n" + after);
}

TEST(Carry, NeverTakesAnAbsentLineForRemoved) {
  const std::string before = function("f", "  first(x);\n  gone(x);\n  last(x);\n");
  const std::string after = function("f", "  first(x);\n  last(x);\n");
  EXPECT_EQ(refusal(before, after, after),
            "missing: the changed lines are not in `f(int)` any more");
}

TEST(Carry, RefusesWhatIsThereAlready) {
  EXPECT_EQ(refusal(kEnum, kEnumAfter, kEnumAfter).substr(0, 9), "ambiguous");
  const std::string before = function("f", "  first(x);\n  last(x);\n");
  const std::string after = function("f", "  first(x);\n  check(x);\n  last(x);\n");
  EXPECT_FALSE(refusal(before, after, after).empty());
}

TEST(Carry, KeepsCommentsOfOthers) {
  const std::string before = function("f", "  step(x, 1);\n  last(x);\n");
  const std::string after = function("f", "  step(x, 2);\n  last(x);\n");
  EXPECT_EQ(carried(before, after, function("f", "  step(x, /*why*/ 1);\n  last(x);\n")),
            function("f", "  step(x, /*why*/ 2);\n  last(x);\n"));
}

TEST(Carry, ChangesACommentThatHasGrown) {
  const auto text = [](const std::string& list) {
    return "/* Notes:\n *\n" + list + " *\n * Called by the thread.\n */\n" + function("f", "");
  };
  const std::string all = " *  - ALL: all\n";
  const std::string load = " *  - LOAD: when a key\n *          is loaded\n";
  const std::string miss = " *  - MISS: misses\n";
  EXPECT_EQ(carried(text(all), text(all + load), text(miss + all)), text(miss + all + load));
  EXPECT_EQ(carried(text(all + load), text(all), text(miss + all + load)), text(miss + all));
  // The same lines stand in two lists of it.
  EXPECT_EQ(refusal(text(all), text(all + load), text(all + " *\n * Others:\n *\n" + all)),
            "missing: a comment at the removed lines is another one now, or is not there");
}

// No code says where in a comment a line is; the neighbour that is left does, if the other is gone.
TEST(Carry, AddsToAListInACommentBesideTheLineThatIsLeft) {
  const auto text = [](const std::string& list) {
    return "/*\n * Copyright 2012 by One Company.\n" + list + " */\n\n" + function("f", "");
  };
  const std::string two = " * Copyright 2020 by Another One.\n";
  const std::string own = " * Copyright 2024 by the Third.\n";
  EXPECT_EQ(carried(text(two), text(own + two), text("")), text(own));
  EXPECT_EQ(carried(text(two), text(own), text(two) + "int y;\n"), text(own) + "int y;\n");
  EXPECT_EQ(refusal(text(""), text(own), text(two)),
            "missing: a comment at the removed lines is another one now, or is not there");
}

TEST(Carry, AddsBehindTheLastOfATypeWhereThatIsAnotherNow) {
  const auto type = [](const std::string& fields) {
    return "enum kind {\n  KIND_FIRST,\n" + fields + "  KIND_COUNT\n};\n";
  };
  EXPECT_EQ(carried(type("  KIND_TWO,\n"), type("  KIND_TWO,\n  KIND_OWN,\n"), type("")),
            type("  KIND_OWN,\n"));
}

// Without a grammar: one line with much to say, where both neighbours have changed.
TEST(Carry, ChangesALineThatIsThereOnceBetweenChangedOnes) {
  const auto change = [](const std::string& before, const std::string& after,
                         const std::string& target) {
    const Source base("a.py", before);
    const Source there("a.py", target);
    const CarriedFile file = carry_file(base, after, there);
    return file.failure ? file.failure->message : file.bytes;
  };
  const auto text = [](const std::string& call, const std::string& line) {
    return "def f(self, os):\n    if self.first != os.first:\n        " + call + "('first')\n" +
           line + "        " + call + "('order')\n    if self.last != os.last:\n        " + call +
           "('last')\n";
  };
  const std::string line = "    if self.update_order != os.update_order:\n";
  const std::string other = "    if self.update_order not in (None, os.update_order):\n";
  EXPECT_EQ(change(text("changes.add", line), text("changes.add", other), text("add", line)),
            text("add", other));
}

TEST(Carry, RefusesALostName) {
  const std::string helper = function("helper", "");
  const std::string before = function("f", "  step(x, 1);\n");
  const std::string after = function("f", "  step(x, helper(1));\n");
  EXPECT_EQ(carried(helper + before, helper + after, helper + "\n" + before),
            helper + "\n" + after);
  EXPECT_EQ(refusal(helper + before, helper + after, before),
            "missing: lost_name: an added line uses `helper`, which is there no more");
  const std::string other = "int helper(int x, int y) {\n  return x;\n}\n\n";
  EXPECT_EQ(refusal(helper + before, helper + after, other + before),
            "missing: lost_name: `helper` takes other parameters now than where it was called");
}

TEST(ChangeBlocks, AreOneWhereOneCanSlideToTheOther) {
  const std::string before = "f() {\n  old();\n  check();\n}\n";
  const std::string after = "f() {\n  new();\n  check();\n}\n\ng() {\n  more();\n  check();\n}\n";
  const auto blocks = change_blocks(before, after);
  ASSERT_EQ(blocks.size(), 1U);
  EXPECT_EQ(blocks[0].before_end - blocks[0].before_begin, 1U);
  EXPECT_EQ(blocks[0].after_end - blocks[0].after_begin, 6U);
}

// The line that changes stands in each entry; which one it is, the name says.
std::string table(const std::vector<std::string>& names, const std::string& marked = "") {
  std::string out = "static const struct op ops[] = {\n";
  for (const std::string& name : names) {
    out += "    {\n        .name = \"" + name + "\",\n        .run = run_any,\n        .flags = " +
           (name == marked ? "FLAG_WRITE" : "0") + ",\n        .next = NULL,\n    },\n";
  }
  return out + "};\n";
}

TEST(Carry, AnEntryThatIsGoneIsNotTakenForTheOneBesideIt) {
  const std::string before = table({"add", "get", "put", "list"});
  const std::string after = table({"add", "get", "put", "list"}, "put");
  EXPECT_NE(refusal(before, after, table({"add", "get", "list"})), "");
  EXPECT_NE(refusal(before, after, table({"add", "get"})), "");
  EXPECT_EQ(carried(before, after, table({"add", "get", "post", "put", "list"})),
            table({"add", "get", "post", "put", "list"}, "put"));
  EXPECT_EQ(carried(before, after, table({"add", "put", "list"})),
            table({"add", "put", "list"}, "put"));
}

}  // namespace
}  // namespace patcher
