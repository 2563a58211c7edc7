// Kills the writer before each of its steps, and then the recovery too: the next run must find the
// tree wholly before or wholly after.
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "patcher/base/error.h"
#include "patcher/write/journal.h"
#include "tests/patcher/scratch.h"

namespace patcher {
namespace {

constexpr const char* kNoUtf8 = "caf\xe9 5%.cpp";

struct Fixture {
  Fixture() {
    scratch.file("a.cpp", "void f() {\n  a();\n}\n");
    scratch.file("gone.cpp", "int gone;\n");
    scratch.file("sub/b.cpp", "int b = 1;");
    scratch.file(kNoUtf8, "int c = 1;");
    before = read_tree(scratch.root());
    after = before;
    after["a.cpp"] = "void f() {\n  b();\n}\n";
    after["sub/b.cpp"] = "int b = 2;";
    after[kNoUtf8] = "int c = 2;";
    after["new/deep/n.h"] = "int n;\n";
    after.erase("gone.cpp");
  }

  FileMap result(const std::shared_ptr<const TreeRoot>& root) const {
    FileMap map(root);
    for (const auto& [path, bytes] : after) {
      FileState state = map.get(path);
      state.source = std::make_shared<Source>(path, bytes);
      map.put(path, state);
    }
    map.put("gone.cpp", {});
    return map;
  }

  std::shared_ptr<const TreeRoot> root() const {
    return std::make_shared<const TreeRoot>(scratch.root().string());
  }

  Scratch scratch;
  Tree before;
  Tree after;
};

// Runs `work` in a child that is killed before step number `step`; false when it came to its end.
bool killed_at(int step, const std::function<void(const WriteHook&)>& work) {
  const pid_t child = fork();
  if (child == 0) {
    int n = 0;
    work([&](std::string_view) {
      if (n++ == step) _exit(77);
    });
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status));
  return WEXITSTATUS(status) == 77;
}

bool journal_is_gone(const Tree& tree) {
  for (const auto& [path, bytes] : tree) {
    if (path.find(".patcher-") != std::string::npos) return false;
  }
  return true;
}

TEST(Crash, KilledAtEveryStepTheTreeIsBeforeOrAfter) {
  int befores = 0;
  int afters = 0;
  for (int step = 0;; ++step) {
    Fixture f;
    const auto root = f.root();
    const bool killed =
        killed_at(step, [&](const WriteHook& hook) { write_tree(*root, f.result(root), hook); });
    recover(*root);
    const Tree now = read_tree(f.scratch.root());
    EXPECT_TRUE(now == f.before || now == f.after) << "step " << step;
    EXPECT_TRUE(journal_is_gone(now));
    EXPECT_EQ(std::filesystem::exists(f.scratch.root() / "new"), now == f.after);
    ++(now == f.after ? afters : befores);
    if (!killed) break;
  }
  EXPECT_GT(befores, 5);
  EXPECT_GT(afters, 3);
}

TEST(Crash, TheRecoveryMayBeKilledToo) {
  for (int first = 0; first < 40; ++first) {
    for (int second = 0;; ++second) {
      Fixture f;
      const auto root = f.root();
      if (!killed_at(first, [&](const WriteHook& h) { write_tree(*root, f.result(root), h); }))
        return;
      const bool killed = killed_at(second, [&](const WriteHook& h) { recover(*root, h); });
      recover(*root);
      const Tree now = read_tree(f.scratch.root());
      EXPECT_TRUE(now == f.before || now == f.after) << first << " " << second;
      if (!killed) break;
    }
  }
  FAIL() << "the writer never came to its end";
}

TEST(Crash, AnErrorWhileWritingLeavesTheTreeAsItWas) {
  Fixture f;
  const auto root = f.root();
  int n = 0;
  const WriteHook full_disk = [&](std::string_view step) {
    if (step.starts_with("write ") && ++n == 3) throw BrokenEnvironment("no space left");
  };
  EXPECT_THROW(write_tree(*root, f.result(root), full_disk), BrokenEnvironment);
  EXPECT_EQ(read_tree(f.scratch.root()), f.before);
}

TEST(Crash, AFileThatChangedMeanwhileIsNotOverwritten) {
  Fixture f;
  const auto root = f.root();
  const FileMap result = f.result(root);
  f.scratch.file("a.cpp", "someone else's\n");
  EXPECT_THROW(write_tree(*root, result), BrokenEnvironment);
  EXPECT_EQ(f.scratch.bytes("a.cpp"), "someone else's\n");
  EXPECT_EQ(f.scratch.bytes("sub/b.cpp"), "int b = 1;");
}

TEST(Crash, AJournalThatIsNoneIsOneClearErrorAndTouchesNothing) {
  const char* const journals[] = {
      "",
      "[]",
      "{\"state\":1,\"directories\":[],\"steps\":[]}",
      "{\"state\":\"commit\",\"steps\":[]}",
      "{\"state\":\"commit\",\"directories\":[],\"steps\":[{\"path\":\"a.cpp\"}]}",
      "{\"state\":\"other\",\"directories\":[],\"steps\":[{\"path\":\"a.cpp\",\"remove\":true}]}",
      "{\"state\":\"prepare\",\"directories\":[\"../elsewhere\"],\"steps\":[]}",
      "{\"state\":\"commit\",\"directories\":[],\"steps\":[{\"path\":\"../"
      "x.cpp\",\"remove\":true}]}"};
  for (const char* journal : journals) {
    Scratch s;
    s.file("a.cpp", "int a;\n");
    write_bytes(s.directory() / "x.cpp", "int x;\n");
    std::filesystem::create_directories(s.directory() / "elsewhere");
    s.patch("1.patch", "--- a.cpp\n+++ a.cpp\n@@ file @@\n-int a;\n+int x;\n");
    s.file(std::string(kJournalName), journal);
    EXPECT_EQ(s.run({"apply"}), 3) << journal;
    EXPECT_NE(s.err.find(kJournalName), std::string::npos) << s.err;
    EXPECT_EQ(s.bytes("a.cpp"), "int a;\n");
    EXPECT_TRUE(std::filesystem::exists(s.directory() / "x.cpp"));
    EXPECT_TRUE(std::filesystem::exists(s.directory() / "elsewhere"));
  }
}

TEST(Crash, TheDryRunRefusesToJudgeATornTreeAndApplyFinishesIt) {
  Scratch s;
  s.file("a.cpp", "int a;\n");
  s.file("b.cpp", "int b;\n");
  s.patch("1.patch",
          "--- a.cpp\n+++ a.cpp\n@@ file @@\n-int a;\n+int x;\n"
          "--- b.cpp\n+++ b.cpp\n@@ file @@\n-int b;\n+int y;\n");
  killed_at(0, [&](const WriteHook& hook) {
    // Opened here so that its lock dies with the child.
    const auto root = std::make_shared<const TreeRoot>(s.root().string());
    FileMap map(root);
    for (const auto& [path, bytes] : Tree{{"a.cpp", "int x;\n"}, {"b.cpp", "int y;\n"}}) {
      FileState state = map.get(path);
      state.source = std::make_shared<Source>(path, bytes);
      map.put(path, state);
    }
    write_tree(*root, map, [&](std::string_view step) {
      if (step == "rename b.cpp") hook(step);
    });
  });
  EXPECT_EQ(s.bytes("a.cpp"), "int x;\n");
  EXPECT_EQ(s.bytes("b.cpp"), "int b;\n");
  EXPECT_EQ(s.run({"check"}), 3);
  EXPECT_NE(s.err.find("cut off"), std::string::npos);
  EXPECT_EQ(s.run({"apply"}), 0);
  EXPECT_EQ(s.bytes("b.cpp"), "int y;\n");
  EXPECT_NE(s.err.find("finished"), std::string::npos);
  EXPECT_EQ(s.run({"check"}), 0);
}

}  // namespace
}  // namespace patcher
