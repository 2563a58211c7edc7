// Kills `apply` and `revert` before, in the middle of and after every system call of theirs that
// changes the disk, and by SIGKILL at random moments. The linker puts the functions below in place
// of the system's (`--wrap`, see CMakeLists.txt), so that no call can be forgotten by a hook.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <random>
#include <thread>

#include "patcher/write/journal.h"
#include "tests/patcher/scratch.h"

namespace {

enum class Death { kBefore, kHalfway, kAfter };

struct Countdown {
  int calls_left = -1;  // negative: nobody dies
  Death death = Death::kBefore;
} countdown;

constexpr int kKilled = 77;

bool is_last_call() {
  return countdown.calls_left >= 0 && countdown.calls_left-- == 0;
}

template <typename Call>
auto mortal(Call call) {
  const bool last = is_last_call();
  if (last && countdown.death != Death::kAfter) _exit(kKilled);
  const auto result = call();
  if (last) _exit(kKilled);
  return result;
}

}  // namespace

extern "C" {

ssize_t __real_write(int fd, const void* bytes, size_t size);
int __real_openat(int directory, const char* path, int flags, mode_t mode);
int __real_renameat(int from, const char* old_path, int to, const char* new_path);
int __real_unlinkat(int directory, const char* path, int flags);
int __real_mkdirat(int directory, const char* path, mode_t mode);
int __real_fchmod(int fd, mode_t mode);

ssize_t __wrap_write(int fd, const void* bytes, size_t size) {
  if (countdown.calls_left == 0 && countdown.death == Death::kHalfway) {
    (void)!__real_write(fd, bytes, size / 2);
  }
  return mortal([&] { return __real_write(fd, bytes, size); });
}
int __wrap_openat(int directory, const char* path, int flags, mode_t mode) {
  if ((flags & O_CREAT) == 0) return __real_openat(directory, path, flags, 0);
  return mortal([&] { return __real_openat(directory, path, flags, mode); });
}
int __wrap_renameat(int from, const char* old_path, int to, const char* new_path) {
  return mortal([&] { return __real_renameat(from, old_path, to, new_path); });
}
int __wrap_unlinkat(int directory, const char* path, int flags) {
  return mortal([&] { return __real_unlinkat(directory, path, flags); });
}
int __wrap_mkdirat(int directory, const char* path, mode_t mode) {
  return mortal([&] { return __real_mkdirat(directory, path, mode); });
}
int __wrap_fchmod(int fd, mode_t mode) {
  return mortal([&] { return __real_fchmod(fd, mode); });
}
// What the kernel holds outlives the process: nothing is really synced, which is what takes time.
int __wrap_fsync(int) {
  return mortal([] { return 0; });
}

}  // extern "C"

namespace patcher {
namespace {

class Killed : public testing::Test {
 protected:
  void SetUp() override {
    s.file("a.cpp", "void f() {\n  a();\n}\n");
    s.file("gone/x.cpp", "int gone;\n");
    s.file("sub/b.cpp", "int b = 1;");
    write_bytes(s.patches() / "n.h", "int n;\n");
    write_bytes(s.patches() / "x.cpp", "int gone;\n");
    s.patch("1.patch",
            "install: n.h -> new/deep/n.h\ndelete: gone/x.cpp\n"
            "--- a.cpp\n+++ a.cpp\n@@ f @@\n-  a();\n+  b();\n"
            "--- sub/b.cpp\n+++ sub/b.cpp\n@@ file @@\n-int b = 1;\n+int b = 2;\n");
    before = tree();
    ASSERT_EQ(s.run({"apply"}), 0) << s.err;
    after = tree();
    ASSERT_EQ(s.run({"revert"}), 0);
    ASSERT_EQ(tree(), before);
  }

  // Directories count too: one that is left behind or missing is a torn tree.
  Tree tree() const {
    Tree all = read_tree(s.root());
    for (const auto& entry : std::filesystem::recursive_directory_iterator(s.root())) {
      if (entry.is_directory()) all[entry.path().lexically_relative(s.root()).string()] = "/";
    }
    return all;
  }

  void look() {
    recover(TreeRoot(s.root().string()));
    const Tree now = tree();
    EXPECT_TRUE(now == before || now == after) << testing::PrintToString(now);
  }

  // Whether the child was killed; otherwise the verb came to its end.
  bool dies(const std::string& verb, int call, Death death) {
    const pid_t child = fork();
    if (child == 0) {
      countdown = {.calls_left = call, .death = death};
      _exit(s.run({verb}) == 0 ? 0 : 1);
    }
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_TRUE(WIFEXITED(status));
    EXPECT_TRUE(WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == kKilled);
    const bool killed = WEXITSTATUS(status) == kKilled;
    kills += killed ? 1 : 0;
    return killed;
  }

  void TearDown() override { RecordProperty("kills", kills); }

  // Kills the verb at each of its calls, from `from`; the number of calls.
  int kill_everywhere(const std::string& verb, const std::string& back, const Tree& from,
                      Death death) {
    for (int call = 0;; ++call) {
      const bool killed = dies(verb, call, death);
      look();
      if (tree() != from) {
        EXPECT_EQ(s.run({back}), 0) << s.err;
      }
      EXPECT_EQ(tree(), from) << verb << " killed at call " << call;
      if (!killed || HasFailure()) return call;
    }
  }

  Scratch s;
  Tree before;
  Tree after;
  int kills = 0;
};

TEST_F(Killed, AtEveryCallOfApply) {
  for (const Death death : {Death::kBefore, Death::kHalfway, Death::kAfter}) {
    EXPECT_GT(kill_everywhere("apply", "revert", before, death), 30);
  }
}

TEST_F(Killed, AtEveryCallOfRevert) {
  ASSERT_EQ(s.run({"apply"}), 0);
  for (const Death death : {Death::kBefore, Death::kHalfway, Death::kAfter}) {
    EXPECT_GT(kill_everywhere("revert", "apply", after, death), 30);
  }
}

// The next run is killed as well, while it recovers or later, and the one after it looks.
TEST_F(Killed, AtEveryCallOfTheRecovery) {
  for (int call = 0; call < 200; ++call) {
    bool killed = true;
    for (int again = call % 7; killed && !HasFailure(); again += 7) {
      if (!dies("apply", call, Death::kAfter)) return;
      killed = dies("apply", again, Death::kBefore);
      look();
      ASSERT_EQ(s.run({"revert"}), 0) << s.err;
      ASSERT_EQ(tree(), before) << call << " " << again;
    }
  }
  FAIL() << "the writer never came to its end";
}

TEST_F(Killed, AtRandomMoments) {
  std::mt19937 random(7);
  for (int round = 0; round < 300 && !HasFailure(); ++round) {
    const pid_t child = fork();
    if (child == 0) {
      for (;;) {
        s.run({"apply"});
        s.run({"revert"});
      }
    }
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 15000));
    kill(child, SIGKILL);
    ++kills;
    waitpid(child, nullptr, 0);
    look();
  }
}

}  // namespace
}  // namespace patcher
