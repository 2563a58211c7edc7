// carry --follow-moves: a change goes to the file that has its function or type now, if one has.
#include <nlohmann/json.hpp>

#include "tests/patcher/git_scratch.h"

namespace patcher {
namespace {

namespace fs = std::filesystem;

constexpr const char* kF = "int f(int x) {\n  first(x);\n  last(x);\n  return x;\n}\n";
constexpr const char* kG = "int g(int x) {\n  before(x);\n  after(x);\n  return x;\n}\n";
constexpr const char* kInF =
    "--- a.cpp\n+++ a.cpp\n@@ f @@\n   first(x);\n+  second(x);\n   last(x);\n";
constexpr const char* kFAfter =
    "int f(int x) {\n  first(x);\n  second(x);\n  last(x);\n  return x;\n}\n";

std::string text(std::initializer_list<std::string> parts) {
  std::string out;
  for (const std::string& part : parts)
    out += (out.empty() ? "" : "\n") + part;
  return out;
}

class FollowMoves : public testing::Test {
 protected:
  fs::path base() const { return s_.directory() / "base"; }
  fs::path out() const { return s_.directory() / "out"; }
  void was(const std::string& path, const std::string& bytes) { write_bytes(base() / path, bytes); }

  int carry(bool follow) {
    fs::remove_all(out());
    std::vector<std::string> args{"carry", "--base", base().string(), "--out-dir", out().string()};
    if (follow) args.push_back("--follow-moves");
    return s_.run(args);
  }
  // Carries and applies.
  void follow() {
    ASSERT_EQ(carry(true), 0) << s_.out << s_.err;
    report_ = s_.out;
    ASSERT_EQ(s_.run_plain({"patcher", "apply", "--root", s_.root().string(), "--series",
                            (out() / "series").string()}),
              0)
        << s_.out << s_.err;
  }
  void refuses(int code, const std::string& words) {
    EXPECT_EQ(carry(true), code) << s_.out;
    EXPECT_TRUE(holds(s_.err, words)) << s_.err;
    EXPECT_TRUE(holds(read_bytes(out() / "series"), "1.patch  # needs a person: ")) << s_.out;
  }

  GitScratch s_;
  std::string report_;
};

TEST_F(FollowMoves, SaysWhereTheFunctionIsAndGoesThereWhenAsked) {
  was("a.cpp", text({kF, kG}));
  s_.file("a.cpp", kG);
  s_.file("lib/b.cpp", text({"int h();\n", kF}));
  s_.patch("1.patch", kInF);
  EXPECT_EQ(carry(false), 12);
  EXPECT_TRUE(
      holds(s_.err, "hint: `f(int)` is defined in lib/b.cpp:3 now; --follow-moves goes there"))
      << s_.err;
  follow();
  EXPECT_TRUE(holds(report_, "note: lib/b.cpp:3: `f(int)` was in a.cpp in the old base"))
      << report_;
  EXPECT_EQ(s_.bytes("lib/b.cpp"), text({"int h();\n", kFAfter}));
  EXPECT_EQ(s_.bytes("a.cpp"), kG);
  EXPECT_TRUE(holds(read_bytes(out() / "1.patch"), "--- lib/b.cpp\n+++ lib/b.cpp\n"));
}

// The whole file has another name, and other code around.
TEST_F(FollowMoves, TakesAllOfAFilesChangeToItsNewName) {
  was("a.cpp", text({"#include \"one.h\"\n#include \"three.h\"\n", kF, kG}));
  s_.file("new.cpp", text({"#include \"one.h\"\n#include \"three.h\"\n", "int n();\n", kF, kG}));
  s_.patch("1.patch",
           "--- a.cpp\n+++ a.cpp\n@@ file @@\n #include \"one.h\"\n+#include \"two.h\"\n"
           " #include \"three.h\"\n@@ f @@\n   first(x);\n+  second(x);\n   last(x);\n"
           "@@ g @@\n-  before(x);\n+  before(-x);\n");
  s_.patch("2.patch", "--- a.cpp\n+++ a.cpp\n@@ f @@\n-  second(x);\n+  second(x + 1);\n");
  EXPECT_EQ(carry(false), 15);
  EXPECT_TRUE(holds(s_.err, "file_missing: is not in the new base")) << s_.err;
  EXPECT_TRUE(holds(s_.err, "`g(int)` is defined in new.cpp:12 now; --follow-moves")) << s_.err;
  follow();
  const std::string now = s_.bytes("new.cpp");
  EXPECT_TRUE(holds(now, "\"one.h\"\n#include \"two.h\"\n#include \"three.h\"\n\nint n();")) << now;
  EXPECT_TRUE(holds(now, "  first(x);\n  second(x + 1);\n  last(x);")) << now;
  EXPECT_TRUE(holds(now, "  before(-x);")) << now;
  EXPECT_FALSE(fs::exists(s_.root() / "a.cpp"));
}

constexpr const char* kInFAndG =
    "--- a.cpp\n+++ a.cpp\n@@ f @@\n   first(x);\n+  second(x);\n   last(x);\n"
    "@@ g @@\n-  before(x);\n+  before(-x);\n";

TEST_F(FollowMoves, LeavesInItsFileWhatIsStillThere) {
  was("a.cpp", text({kF, kG}));
  s_.file("a.cpp", text({"int more();\n", kG}));
  s_.file("b.cpp", kF);
  s_.patch("1.patch", kInFAndG);
  follow();
  EXPECT_EQ(s_.bytes("b.cpp"), kFAfter);
  EXPECT_TRUE(holds(s_.bytes("a.cpp"), "int g(int x) {\n  before(-x);\n"));
}

TEST_F(FollowMoves, GoesToSeveralFiles) {
  was("a.cpp", text({kF, kG}));
  s_.file("b.cpp", kF);
  s_.file("c.cpp", kG);
  s_.patch("1.patch", kInFAndG);
  follow();
  EXPECT_EQ(s_.bytes("b.cpp"), kFAfter);
  EXPECT_TRUE(holds(s_.bytes("c.cpp"), "  before(-x);\n"));
}

TEST_F(FollowMoves, RefusesWhatIsOutsideOfDefinitionsWhenTheyAreApart) {
  was("a.cpp", text({"int one;\nint three;\n", kF, kG}));
  s_.file("a.cpp", text({"int one;\nint three;\n", kG}));
  s_.file("b.cpp", text({"int one;\nint three;\n", kF}));
  s_.patch("1.patch",
           "--- a.cpp\n+++ a.cpp\n@@ file @@\n int one;\n+int two;\n int three;\n"
           "@@ f @@\n   first(x);\n+  second(x);\n   last(x);\n"
           "@@ g @@\n-  before(x);\n+  before(-x);\n");
  refuses(12, "--follow-moves does not go there: a.cpp: what changes at line 2 of the old base is");
}

TEST_F(FollowMoves, RefusesWhatIsDefinedTwice) {
  was("a.cpp", text({kF, kG}));
  s_.file("a.cpp", kG);
  s_.file("c.cpp", kF);
  s_.file("b.cpp", text({"int h();\n", kF}));
  s_.patch("1.patch", kInF);
  refuses(12, "hint: `f(int)` is defined 2 times elsewhere now: b.cpp:3, c.cpp:1\n");
  fs::remove(s_.root() / "c.cpp");
  s_.file("b.cpp", text({"#ifdef FAST", kF, "#else", kF, "#endif\n"}));
  refuses(12, "`f(int)` is defined 2 times elsewhere now: b.cpp:2, b.cpp:9\n");
}

// What has the name, but not the parameters; what the old base had there already; what the tree
// only reaches through a link; and what is no code.
TEST_F(FollowMoves, DoesNotTakeAnotherDefinitionForIt) {
  const fs::path outside = s_.directory() / "outside";
  was("a.cpp", text({kF, kG}));
  was("copy.cpp", kF);
  s_.file("a.cpp", kG);
  s_.file("other.cpp", "int f(double x) {\n  first(x);\n  last(x);\n  return 0;\n}\n");
  s_.file("scoped.cpp", text({"namespace n {", kF, "}\n"}));
  s_.file("declared.h", "int f(int x);\n");
  s_.file("copy.cpp", kF);
  s_.file("notes.txt", kF);
  s_.file(".git/hooks/b.cpp", kF);
  write_bytes(outside / "b.cpp", kF);
  fs::create_directory_symlink(outside, s_.root() / "linked");
  fs::create_symlink(outside / "b.cpp", s_.root() / "b.cpp");
  s_.patch("1.patch", kInF);
  refuses(12, "the changed lines are not in `f(int)` any more");
  EXPECT_FALSE(holds(s_.err, "is defined")) << s_.err;
}

TEST_F(FollowMoves, PassesOverWhatCannotBeRead) {
  was("a.cpp", text({kF, kG}));
  s_.file("a.cpp", kG);
  s_.file("big.cpp", text({kF, std::string(5u << 20, ' ')}));
  s_.file("bytes.cpp", text({kF, std::string(1, '\0')}));
  s_.file("closed/b.cpp", kF);
  fs::permissions(s_.root() / "closed/b.cpp", fs::perms::none);
  s_.file("z.cpp", kF);
  const bool root = !read_bytes(s_.root() / "closed/b.cpp").empty();
  if (root) fs::remove(s_.root() / "closed/b.cpp");  // may read all
  s_.patch("1.patch", kInF);
  follow();
  EXPECT_EQ(s_.bytes("z.cpp"), kFAfter);
}

// The patch changes the file too that has the function now, before or after the one that had it.
TEST_F(FollowMoves, AddsToWhatThePatchChangesThere) {
  for (const char* other : {"0.cpp", "b.cpp"}) {
    const std::string name = other;
    fs::remove_all(out());
    for (const char* path : {"0.cpp", "b.cpp"}) {
      fs::remove(base() / path);
      fs::remove(s_.root() / path);
    }
    was("a.cpp", text({kF, "int last_one;\n"}));
    was(name, kG);
    s_.file("a.cpp", "int last_one;\n");
    s_.file(name, text({kG, kF}));
    const std::string in_g =
        "--- " + name + "\n+++ " + name + "\n@@ g @@\n-  before(x);\n+  before(-x);\n";
    const std::string head = "Subject: one\nWhy: test\n";
    write_bytes(s_.patches() / "1.patch", head + (name < "a" ? in_g + kInF : kInF + in_g));
    write_bytes(s_.patches() / "series", "1.patch\n");
    follow();
    EXPECT_TRUE(holds(s_.bytes(name), "  before(-x);\n")) << name;
    EXPECT_TRUE(holds(s_.bytes(name), kFAfter)) << name;
  }
}

TEST_F(FollowMoves, FollowsTypesAndMembers) {
  was("a.h", "struct S {\n  int one;\n  int three;\n};\n");
  was("a.cpp", "int S::get() const {\n  return one;\n}\n");
  s_.file("b.h",
          "struct R {\n  int one;\n  int three;\n};\nstruct S {\n  int one;\n  int three;\n};\n");
  s_.file("b.cpp", "int S::get() {\n  return one;\n}\nint S::get() const {\n  return one;\n}\n");
  s_.patch("1.patch",
           "--- a.h\n+++ a.h\n@@ S @@\n   int one;\n+  int two;\n   int three;\n"
           "--- a.cpp\n+++ a.cpp\n@@ S::get @@\n-  return one;\n+  return two;\n");
  follow();
  EXPECT_TRUE(holds(s_.bytes("b.h"), "struct S {\n  int one;\n  int two;\n  int three;\n};\n"));
  EXPECT_EQ(s_.bytes("b.cpp"),
            "int S::get() {\n  return one;\n}\nint S::get() const {\n  return two;\n}\n");
}

// From C to C++, where `struct` before a name is left out.
TEST_F(FollowMoves, FollowsFromCToCpp) {
  const std::string body = "  first(x);\n  last(x);\n}\n";
  const std::string call = "\nvoid h(struct S* x, enum E e) {\n}\n";
  was("a.c", "void f(const struct S* x, struct T* restructured) {\n" + body + call);
  s_.file("b.cpp", "void h(S* x, E e) {\n}\n\nvoid f(const S* x, T* restructured) {\n" + body);
  s_.patch("1.patch", "--- a.c\n+++ a.c\n@@ f @@\n   first(x);\n+  h(x, 0);\n   last(x);\n");
  follow();
  EXPECT_TRUE(holds(s_.bytes("b.cpp"), "  first(x);\n  h(x, 0);\n  last(x);\n"));
}

TEST_F(FollowMoves, RefusesWhatTheOtherFileDoesNotHave) {
  was("a.cpp", text({"int helper(int x) {\n  return x;\n}\n", kF}));
  s_.file("a.cpp", "int helper(int x) {\n  return x;\n}\n");
  s_.file("b.cpp", kF);
  s_.patch("1.patch", "--- a.cpp\n+++ a.cpp\n@@ f @@\n   first(x);\n+  helper(x);\n   last(x);\n");
  refuses(12, "hint: `f(int)` is defined in b.cpp:1 now\n");
  EXPECT_TRUE(holds(s_.err,
                    "--follow-moves does not go there: b.cpp: lost_name: an added line uses "
                    "`helper`"))
      << s_.err;
}

TEST_F(FollowMoves, RefusesWhatHasChangedWhereItIsNow) {
  was("a.cpp", text({kF, kG}));
  s_.file("a.cpp", kG);
  s_.file("b.cpp", "int f(int x) {\n  return other(x);\n}\n");
  s_.patch("1.patch", kInF);
  refuses(12, "--follow-moves does not go there: b.cpp: the changed lines are not in `f(int)` any");
}

TEST_F(FollowMoves, IsOfferedByCheckWithTheBase) {
  was("a.cpp", text({kF, kG}));
  s_.file("a.cpp", kG);
  s_.file("b.cpp", kF);
  s_.patch("1.patch", kInF);
  s_.commit("upstream");
  const std::vector<std::string> check{"check", "--base", base().string()};
  for (const char* rev : {"", "HEAD"}) {
    std::vector<std::string> args = check;
    if (*rev != 0) {
      fs::remove(s_.root() / "b.cpp");
      args.insert(args.end(), {"--rev", rev});
    }
    EXPECT_EQ(s_.run(args), 12);
    EXPECT_TRUE(holds(s_.err, "`f(int)` is defined in b.cpp:1 now; --follow-moves goes there"))
        << s_.err;
    args.push_back("--follow-moves");
    EXPECT_EQ(s_.run(args), 12);
    EXPECT_TRUE(holds(s_.err, "hint: carry would place it at b.cpp:3: patcher carry")) << s_.err;
    EXPECT_TRUE(holds(s_.err, " --follow-moves --out-dir DIR\n")) << s_.err;
    EXPECT_EQ(holds(s_.err, " --rev HEAD "), *rev != 0) << s_.err;
  }
}

TEST_F(FollowMoves, CarriesToARevisionThatIsNotCheckedOut) {
  was("a.cpp", text({kF, kG}));
  s_.file("a.cpp", kG);
  s_.file("lib/b.cpp", kF);
  s_.patch("1.patch", kInF);
  const std::string head = s_.commit("upstream");
  fs::remove_all(s_.root() / "lib");
  EXPECT_EQ(carry(true), 12);
  fs::remove_all(out());
  const std::vector<std::string> args{"carry",     "--base",       base().string(),
                                      "--out-dir", out().string(), "--follow-moves",
                                      "--rev",     "HEAD"};
  ASSERT_EQ(s_.run(args), 0) << s_.err;
  EXPECT_TRUE(holds(s_.out, "at HEAD (" + head.substr(0, 12) + ") upstream\n")) << s_.out;
  EXPECT_TRUE(holds(read_bytes(out() / "1.patch"), "--- lib/b.cpp\n"));
  EXPECT_FALSE(fs::exists(s_.root() / "lib"));
  std::vector<std::string> json = args;
  json.push_back("--json");
  ASSERT_EQ(s_.run(json), 0) << s_.err;
  EXPECT_EQ(nlohmann::json::parse(s_.out)["rev"]["commit"], head);
}

TEST_F(FollowMoves, BelongsToCarryAndToCheckWithTheBase) {
  was("a.cpp", kF);
  s_.file("a.cpp", kF);
  s_.patch("1.patch", kInF);
  const std::string dir = base().string();
  for (const std::vector<std::string>& args : {std::vector<std::string>{"check", "--follow-moves"},
                                               {"apply", "--base", dir, "--follow-moves"},
                                               {"revert", "--follow-moves"},
                                               {"diff", "--follow-moves"}}) {
    EXPECT_EQ(s_.run(args), 2) << args.front();
    EXPECT_TRUE(holds(s_.err, "--follow-moves")) << s_.err;
  }
}

}  // namespace
}  // namespace patcher
