// What a change uses, by carry and by check with a base: both trees tell what is gone.
#include "tests/patcher/scratch.h"

namespace patcher {
namespace {

namespace fs = std::filesystem;

class LostNames : public testing::Test {
 protected:
  fs::path base() const { return s_.directory() / "base"; }

  void file(const std::string& path, const std::string& before, const std::string& now) {
    write_bytes(base() / path, before);
    s_.file(path, now);
  }

  // The one patch of the series.
  void patch(const std::string& text) {
    write_bytes(s_.patches() / "1.patch", "Subject: One\nWhy: test\n" + text);
    write_bytes(s_.patches() / "series", "1.patch\n");
  }

  int carry() {
    fs::remove_all(s_.directory() / "out");
    return s_.run(
        {"carry", "--base", base().string(), "--out-dir", (s_.directory() / "out").string()});
  }
  // The exit status of both verbs, which must be one, and in s_.err what the last one said.
  int status() {
    const int carried = carry();
    const std::string said = s_.out + s_.err;
    EXPECT_EQ(s_.run({"check", "--base", base().string()}), carried) << said << s_.out << s_.err;
    return carried;
  }

  Scratch s_;
};

constexpr const char* kBody = "int f(int x) {\n  first(x);\n  return x;\n}\n";

// `helper` is in no file that the patch names.
class NameInAnotherFile : public LostNames {
 protected:
  int status_with(const std::string& before, const std::string& now) {
    file("a.c", kBody, kBody);
    file("help.h", before, now);
    patch("--- a.c\n+++ a.c\n@@ f @@\n   first(x);\n+  helper(x);\n   return x;\n");
    return status();
  }
};

TEST_F(NameInAnotherFile, IsRefusedWhereTheTreeHasItNowhere) {
  EXPECT_EQ(status_with("int helper(int x);\n", "int other(int x);\n"), 12);
  EXPECT_TRUE(holds(s_.err,
                    "a.c:3:1: error: missing: lost_name: an added line uses `helper`, "
                    "which is there no more"))
      << s_.err;
}

TEST_F(NameInAnotherFile, IsRefusedWhereOnlyACommentHasIt) {
  EXPECT_EQ(status_with("int helper(int x);\n", "int other(int x);  // was helper\n"), 12);
}

TEST_F(NameInAnotherFile, MayBeAMacroOrAConstant) {
  EXPECT_EQ(status_with("#define helper(x) (x)\n", "int other(int x);\n"), 12);
  EXPECT_EQ(status_with("enum kind { a = 1, helper, c };\n", "int other(int x);\n"), 12);
}

TEST_F(NameInAnotherFile, IsThereInWhateverForm) {
  EXPECT_EQ(status_with("int helper(int x);\n", "#define helper(x) other(x)\n"), 0) << s_.err;
  EXPECT_EQ(status_with("int helper(int x);\n", "#define also(x) helper(x)\n"), 0) << s_.err;
}

// What the old tree only calls comes from elsewhere, and is still there.
TEST_F(NameInAnotherFile, IsNotMissedWhereTheBaseOnlyUsesIt) {
  EXPECT_EQ(status_with("#define one(x) helper(x)\n", "int other(int x);\n"), 0) << s_.err;
}

TEST_F(LostNames, AreNotThoseThatThePatchDeclaresElsewhere) {
  file("a.c", kBody, kBody);
  file("old.h", "int helper(int x);\n", "int other;\n");
  file("new.h", "int some;\n", "int some;\n");
  patch(
      "--- a.c\n+++ a.c\n@@ f @@\n   first(x);\n+  helper(x);\n   return x;\n"
      "--- new.h\n+++ new.h\n@@ file @@\n int some;\n+int helper(int x);\n");
  EXPECT_EQ(status(), 0) << s_.err;
}

// The added line uses a local of the function, which has it only elsewhere now.
class Local : public LostNames {
 protected:
  static std::string function(const std::string& head, const std::string& behind = "") {
    return "int f(struct conf *k, int x) {\n" + head + "  first(x);\n  middle(x);\n" + behind +
           "  return x;\n}\n";
  }
  int status_with(const std::string& now) {
    file("a.c", function("  int q = 1, *port = &q;\n  use(port);\n"), now);
    patch("--- a.c\n+++ a.c\n@@ f @@\n   first(x);\n+  note(port);\n   middle(x);\n");
    return status();
  }
  static bool is_told(const std::string& err) {
    return holds(err, "an added line uses `port`, which the function does not have there");
  }
};

TEST_F(Local, IsRefusedWhereOnlyAMemberHasItsName) {
  EXPECT_EQ(status_with(function("  use(k->port);\n")), 12);
  EXPECT_TRUE(is_told(s_.err)) << s_.err;
}

TEST_F(Local, IsRefusedWhereAnotherBlockDeclaresIt) {
  EXPECT_EQ(status_with(function("  if (x) {\n    int port = 2;\n    use(port);\n  }\n")), 12);
  EXPECT_TRUE(is_told(s_.err)) << s_.err;
}

TEST_F(Local, IsRefusedWhereItIsDeclaredBehind) {
  EXPECT_EQ(status_with(function("", "  int port = 2;\n  use(port);\n")), 12);
  EXPECT_TRUE(is_told(s_.err)) << s_.err;
}

TEST_F(Local, IsThereHoweverItIsDeclared) {
  EXPECT_EQ(status_with(function("  conf_ptr a, port = k;\n")), 0) << s_.err;
  EXPECT_EQ(status_with(function("  DECLARE(port);\n")), 0) << s_.err;
  EXPECT_EQ(status_with(function("  if (x) {\n    port = 2;\n  }\n")), 0) << s_.err;
  EXPECT_EQ(status_with(function("", "  use(port);\n")), 0) << s_.err;
  EXPECT_EQ(status_with("int f(struct conf *k, int port, int x) {\n  first(x);\n  middle(x);\n"
                        "  return x;\n}\n"),
            0)
      << s_.err;
}

TEST_F(Local, IsThereInTheLineThatIsReplaced) {
  file("a.c", "int f(int x) {\n  int port = 1;\n  first(port);\n  return x;\n}\n",
       "int f(int x) {\n  use(1);\n  first(port);\n  return x;\n}\n");
  patch("--- a.c\n+++ a.c\n@@ f @@\n-  first(port);\n+  second(port);\n");
  EXPECT_EQ(status(), 0) << s_.err;
}

// What the patch takes away, and the tree has come to use.
TEST_F(LostNames, AreToldOfAVariableThatIsStillUsed) {
  file("a.c", "int f(int x) {\n  int n = 1;\n  first(x);\n  return x;\n}\n",
       "int f(int x) {\n  int n = 1;\n  first(x);\n  more(n);\n  return x;\n}\n");
  patch("--- a.c\n+++ a.c\n@@ f @@\n int f(int x) {\n-  int n = 1;\n   first(x);\n");
  EXPECT_EQ(status(), 12);
  EXPECT_TRUE(holds(s_.err, "a.c:3:8: error: missing: still_used: the patch removes `n`"))
      << s_.err;
}

TEST_F(LostNames, AreToldOfAFunctionThatIsStillUsed) {
  const std::string helper = "static int helper(int x) {\n  return x;\n}\n\n";
  file("a.c", helper + "int f(int x) {\n  first(x);\n  return x;\n}\n",
       helper + "int f(int x) {\n  first(x);\n  more(helper(x));\n  return x;\n}\n");
  patch(
      "--- a/a.c\n+++ b/a.c\n@@ -1,7 +1,3 @@\n-static int helper(int x) {\n-  return x;\n-}\n"
      "-\n int f(int x) {\n   first(x);\n   return x;\n");
  EXPECT_NE(status(), 0);
  patch(
      "--- a/a.c\n+++ b/a.c\n@@ -1,5 +1,1 @@\n-static int helper(int x) {\n-  return x;\n-}\n"
      "-\n int f(int x) {\n");
  EXPECT_EQ(status(), 12);
  EXPECT_TRUE(holds(s_.err, "still_used: the patch removes `helper`, which is still used here"))
      << s_.err;
}

// The call went because of `make_context`, which does its work; the tree does not have that.
TEST_F(LostNames, AreToldOfARemovedCallBesideOneThatIsGone) {
  const auto function = [](const std::string& how, const std::string& call) {
    return "int f(int x) {\n  " + how + "(x);\n" + call + "  return x;\n}\n";
  };
  const std::string call = "  select(x, 0);\n";
  patch("--- a.c\n+++ a.c\n@@ f @@\n   make_context(x);\n-  select(x, 0);\n   return x;\n");
  file("a.c", function("make_context", call), function("temporary", call));
  file("c.h", "int make_context(int x);\n", "int temporary(int x);\n");
  EXPECT_EQ(carry(), 12);
  EXPECT_TRUE(holds(s_.err, "the patch removes a call behind one of `make_context`")) << s_.err;
  s_.file("c.h", "int make_context(int x);\n");
  EXPECT_EQ(carry(), 0) << s_.err;
}

}  // namespace
}  // namespace patcher
