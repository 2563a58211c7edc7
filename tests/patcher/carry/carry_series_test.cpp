// The verb `carry`: a series for one tree, made to fit another version of it.
#include <nlohmann/json.hpp>

#include "tests/patcher/scratch.h"

namespace patcher {
namespace {

namespace fs = std::filesystem;

class CarryVerb : public testing::Test {
 protected:
  fs::path base() const { return s_.directory() / "base"; }
  fs::path out() const { return s_.directory() / "out"; }

  // The base has `before`, the new tree `now`.
  void file(const std::string& path, const std::string& before, const std::string& now) {
    write_bytes(base() / path, before);
    s_.file(path, now);
  }

  int carry(std::vector<std::string> more = {}) {
    more.insert(more.begin(), {"carry", "--base", base().string(), "--out-dir", out().string()});
    return s_.run(more);
  }

  // The outcomes, in order.
  std::vector<std::string> outcomes() {
    carry({"--json"});
    std::vector<std::string> names;
    const auto report = nlohmann::json::parse(s_.out);
    for (const auto& p : report["patches"])
      names.push_back(p["outcome"]);
    return names;
  }

  Scratch s_;
};

constexpr const char* kBase =
    "int f(int x) {\n  first(x);\n  last(x);\n  return x;\n}\n\nint g(int x) {\n  return x;\n}\n";
constexpr const char* kNow =
    "int g(int x) {\n  return x;\n}\n\nint f(int x) {\n  first(x);\n  more(x);\n"
    "  return x;\n}\n";

TEST_F(CarryVerb, SaysWhatBecameOfEachPatchAndWritesTheSeries) {
  file("a.cpp", kBase, kNow);
  file("b.txt", "one\n", "two\n");
  s_.patch("1.patch", "--- a.cpp\n+++ a.cpp\n@@ g @@\n-  return x;\n+  return -x;\n");
  s_.patch("2.patch", "--- a.cpp\n+++ a.cpp\n@@ f @@\n   first(x);\n+  second(x);\n   last(x);\n");
  s_.patch("3.patch", "--- b.txt\n+++ b.txt\n@@ file @@\n-one\n+two\n");
  EXPECT_EQ(outcomes(), (std::vector<std::string>{"unchanged", "re-anchored", "obsolete"}));
  EXPECT_EQ(read_bytes(out() / "series"), "1.patch\n2.patch\n");
  EXPECT_EQ(read_bytes(out() / "1.patch"), read_bytes(s_.patches() / "1.patch"));
  EXPECT_EQ(carry(), 0) << "the same again: " << s_.err;
  ASSERT_EQ(s_.run_plain({"patcher", "apply", "--root", s_.root().string(), "--series",
                          (out() / "series").string()}),
            0)
      << s_.out << s_.err;
  EXPECT_EQ(s_.bytes("a.cpp"),
            "int g(int x) {\n  return -x;\n}\n\nint f(int x) {\n  first(x);\n"
            "  second(x);\n  more(x);\n  return x;\n}\n");
}

TEST_F(CarryVerb, NamesWhatNeedsAPersonAndWritesItAsItWas) {
  file("a.cpp", kBase, "int g(int x) {\n  return x;\n}\n");
  s_.patch("1.patch", "--- a.cpp\n+++ a.cpp\n@@ g @@\n-  return x;\n+  return f(x);\n");
  s_.patch("2.patch", "--- a.cpp\n+++ a.cpp\n@@ f @@\n-  last(x);\n+  last(-x);\n");
  EXPECT_EQ(outcomes(), (std::vector<std::string>{"needs a person", "needs a person"}));
  EXPECT_EQ(carry(), 12);
  EXPECT_NE(s_.err.find("lost_name: an added line uses `f`"), std::string::npos) << s_.err;
  EXPECT_TRUE(holds(s_.out, "; written to " + out().string() + ", what needs a person as it was"))
      << s_.out;
  EXPECT_EQ(read_bytes(out() / "series"),
            "1.patch  # needs a person: missing\n2.patch  # needs a person: missing\n");
  for (const char* name : {"1.patch", "2.patch"})
    EXPECT_EQ(read_bytes(out() / name), read_bytes(s_.patches() / name));
}

// The rest is carried, and the new series does once the one patch is mended.
TEST_F(CarryVerb, LeavesOnlyTheOnePatchToAPerson) {
  file("a.cpp", kBase, kNow);
  file("b.cpp", "int h(int x) {\n  return x;\n}\n", "int h(int y) {\n  return y + 1;\n}\n");
  write_bytes(s_.patches() / "n.txt", "new\n");
  s_.patch("1.patch", "--- a.cpp\n+++ a.cpp\n@@ f @@\n   first(x);\n+  second(x);\n   last(x);\n");
  s_.patch("2.patch",
           "install: n.txt -> n.txt\n"
           "--- b.cpp\n+++ b.cpp\n@@ h @@\n-  return x;\n+  return -x;\n");
  s_.patch("3.patch", "--- a.cpp\n+++ a.cpp\n@@ f @@\n   second(x);\n+  third(x);\n   last(x);\n");
  EXPECT_EQ(outcomes(), (std::vector<std::string>{"re-anchored", "needs a person", "re-anchored"}));
  EXPECT_EQ(read_bytes(out() / "series"), "1.patch\n2.patch  # needs a person: missing\n3.patch\n");
  EXPECT_EQ(read_bytes(out() / "n.txt"), "new\n");
  const auto new_series = [&](const char* verb) {
    return s_.run_plain(
        {"patcher", verb, "--root", s_.root().string(), "--series", (out() / "series").string()});
  };
  EXPECT_EQ(new_series("apply"), 12);
  std::string second = read_bytes(out() / "2.patch");
  second.replace(second.find("-  return x;\n+  return -x;"), 26,
                 "-  return y + 1;\n+  return -y - 1;");
  write_bytes(out() / "2.patch", second);
  EXPECT_EQ(new_series("apply"), 0) << s_.err;
  EXPECT_EQ(s_.bytes("b.cpp"), "int h(int y) {\n  return -y - 1;\n}\n");
  EXPECT_TRUE(holds(s_.bytes("a.cpp"), "  first(x);\n  second(x);\n  third(x);\n  more(x);"));
  EXPECT_EQ(carry(), 3) << "what a person has written is not written over";
  EXPECT_TRUE(holds(s_.err, ".patch: is there and differs")) << s_.err;
}

TEST_F(CarryVerb, NamesTheNearestPlaceToAPerson) {
  file("a.cpp", kBase,
       "int g(int x) {\n  return x;\n}\n\nint f(int x) {\n  first(x);\n  more(x);\n  last(x, 1);\n"
       "  return x;\n}\n");
  s_.patch("1.patch", "--- a.cpp\n+++ a.cpp\n@@ f @@\n-  last(x);\n+  last(-x);\n");
  EXPECT_EQ(carry(), 12);
  EXPECT_TRUE(holds(s_.err, "a.cpp:8:3: error: missing: the changed lines are not in `f(int)`"))
      << s_.err;
  EXPECT_TRUE(holds(s_.err, "a.cpp:8:3: in f(int): last(x, 1);")) << s_.err;
  // Nothing is near enough to be worth a look.
  s_.file("a.cpp", "int f(int x) {\n  while (x > 0) --x;\n  return twice(x);\n}\n");
  fs::remove_all(out());
  EXPECT_EQ(carry(), 12);
  EXPECT_TRUE(holds(s_.err, "a.cpp: error: missing: the changed lines are not in `f(int)`"))
      << s_.err;
}

TEST_F(CarryVerb, CarriesNewDeletedAndRenamedFiles) {
  file("old.cpp", kBase, kNow);
  file("gone.txt", "gone\n", "gone\n");
  write_bytes(s_.patches() / "n.txt", "new\n");
  s_.patch("1.patch",
           "rename: old.cpp -> new.cpp\ninstall: n.txt -> n.txt\n"
           "--- old.cpp\n+++ new.cpp\n@@ f @@\n   first(x);\n+  second(x);\n   last(x);\n");
  ASSERT_EQ(carry(), 0) << s_.out << s_.err;
  ASSERT_EQ(s_.run_plain({"patcher", "apply", "--root", s_.root().string(), "--series",
                          (out() / "series").string()}),
            0)
      << s_.out << s_.err;
  EXPECT_EQ(s_.bytes("n.txt"), "new\n");
  EXPECT_NE(s_.bytes("new.cpp").find("  first(x);\n  second(x);\n  more(x);"), std::string::npos);
}

TEST_F(CarryVerb, NeedsASeriesThatAppliesToItsBase) {
  file("a.cpp", kNow, kBase);
  s_.patch("1.patch", "--- a.cpp\n+++ a.cpp\n@@ f @@\n   first(x);\n+  second(x);\n   last(x);\n");
  EXPECT_EQ(carry(), 12);
  EXPECT_NE(s_.err.find("does not apply to its own base"), std::string::npos) << s_.err;
  EXPECT_EQ(s_.run({"carry"}), 2);
}

// Three places alike: only the diff's line number says which. In the new tree two of them are left,
// and the anchor must not be taken for the one that is not meant.
TEST_F(CarryVerb, TakesADiffsPlacesInItsBaseFromItsLines) {
  const std::string head = "int f(int x) {\n  begin(x);\n  step(x);\n  middle(x);\n";
  file("a.cpp", head + "  step(x);\n  late(x);\n  step(x);\n  return x;\n}\n",
       "int g();\n\n" + head + "  step(x);\n  late(x);\n  other(x);\n  return x;\n}\n");
  write_bytes(s_.patches() / "1.diff",
              "--- a/a.cpp\n+++ b/a.cpp\n@@ -5,1 +5,1 @@ int f(int x) {\n"
              "-  step(x);\n+  leap(x);\n");
  write_bytes(s_.patches() / "series", "1.diff\n");
  ASSERT_EQ(carry(), 0) << s_.out << s_.err;
  ASSERT_EQ(s_.run_plain({"patcher", "apply", "--root", s_.root().string(), "--series",
                          (out() / "series").string()}),
            0)
      << s_.out << s_.err;
  EXPECT_EQ(s_.bytes("a.cpp"),
            "int g();\n\n" + head + "  leap(x);\n  late(x);\n  other(x);\n  return x;\n}\n");
}

// A diff that was kept while its base moved on: its lines are in one place, if not where it says.
TEST_F(CarryVerb, FindsWhatADiffsStaleLineNumbersMiss) {
  const std::string old = "int g();\n\n" + std::string(kBase);
  file("a.cpp", old, "int h();\n" + old);
  const std::string hunk =
      "@@ -1,3 +1,4 @@ int f(int x) {\n   first(x);\n+  second(x);\n   last(x);\n   return x;\n";
  write_bytes(s_.patches() / "1.diff", "--- a/a.cpp\n+++ b/a.cpp\n" + hunk);
  write_bytes(s_.patches() / "series", "1.diff\n");
  EXPECT_EQ(outcomes(), (std::vector<std::string>{"unchanged"})) << s_.err;
  // Twice there, no line number to choose by, and no name that tells them apart.
  file("a.cpp",
       "int f(int x) {\n  first(x);\n  last(x);\n  return x;\n  first(x);\n  last(x);\n  return "
       "x;\n}\n",
       old);
  EXPECT_EQ(carry(), 12);
  EXPECT_NE(s_.err.find("does not apply to its own base"), std::string::npos) << s_.err;
  EXPECT_NE(s_.err.find("its text at lines 2, 5: which is meant?"), std::string::npos) << s_.err;
}

// What the old tree has three times and the new one once is not known to be the one that is meant.
TEST_F(CarryVerb, DoesNotTakeAnAnchorThatHasBecomeUniqueForThePlace) {
  file("a.cpp", "int f(int x) {\n  step(x);\n  step(x);\n  step(x);\n  return x;\n}\n",
       "int f(int x) {\n  step(x);\n  return x;\n}\n");
  write_bytes(s_.patches() / "1.diff",
              "--- a/a.cpp\n+++ b/a.cpp\n@@ -3,1 +3,1 @@ int f(int x) {\n"
              "-  step(x);\n+  leap(x);\n");
  write_bytes(s_.patches() / "series", "1.diff\n");
  EXPECT_NE(carry(), 0) << s_.out;
  EXPECT_NE(s_.err.find("a.cpp"), std::string::npos) << s_.err;
}

}  // namespace
}  // namespace patcher
