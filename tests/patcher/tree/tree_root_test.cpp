// What stays as it is on disk: everything outside of the tree, other names, modes.
#include <sys/stat.h>

#include "patcher/base/verdict.h"
#include "tests/patcher/scratch.h"

namespace patcher {
namespace {

namespace fs = std::filesystem;
using testing::Test;

class Links : public Test {
 protected:
  void SetUp() override {
    write_bytes(s.directory() / "outside.cpp", "int a;\n");
    fs::create_directories(s.directory() / "elsewhere");
    write_bytes(s.directory() / "elsewhere/a.cpp", "int a;\n");
  }
  void refuse(const std::string& path, Verdict verdict) {
    s.patch("1.patch", "--- " + path + "\n+++ " + path + "\n@@ file @@\n-int a;\n+int b;\n");
    EXPECT_EQ(s.run({"apply"}), exit_code(verdict)) << s.out << s.err;
    EXPECT_EQ(read_bytes(s.directory() / "outside.cpp"), "int a;\n");
    EXPECT_EQ(read_bytes(s.directory() / "elsewhere/a.cpp"), "int a;\n");
  }
  Scratch s;
};

TEST_F(Links, AFileThatIsALinkIsRefused) {
  fs::create_symlink("../outside.cpp", s.root() / "l.cpp");
  refuse("l.cpp", Verdict::kUnsafePath);
}
TEST_F(Links, AFileBehindALinkedDirectoryIsRefused) {
  fs::create_directory_symlink("../elsewhere", s.root() / "d");
  refuse("d/a.cpp", Verdict::kUnsafePath);
}
TEST_F(Links, ALinkInsideTheTreeIsRefusedToo) {
  s.file("real.cpp", "int a;\n");
  fs::create_symlink("real.cpp", s.root() / "l.cpp");
  refuse("l.cpp", Verdict::kUnsafePath);
}
TEST_F(Links, InstallingThroughALinkIsRefused) {
  fs::create_directory_symlink("../elsewhere", s.root() / "d");
  write_bytes(s.patches() / "n.h", "int n;\n");
  s.patch("1.patch", "install: n.h -> d/n.h\n");
  EXPECT_EQ(s.run({"apply"}), exit_code(Verdict::kUnsafePath));
  EXPECT_FALSE(fs::exists(s.directory() / "elsewhere/n.h"));
}
TEST_F(Links, ADirectoryIsNoFile) {
  fs::create_directories(s.root() / "dir.cpp");
  refuse("dir.cpp", Verdict::kUnsafePath);
}
TEST_F(Links, TwoNamesOfOneFileOverlap) {
  s.file("a.cpp", "int a;\nint c;\n");
  fs::create_hard_link(s.root() / "a.cpp", s.root() / "b.cpp");
  s.patch("1.patch", kChangeA);
  s.patch("2.patch", "--- b.cpp\n+++ b.cpp\n@@ file @@\n-int c;\n+int d;\n");
  EXPECT_EQ(s.run({"apply"}), exit_code(Verdict::kOverlaps));
  EXPECT_EQ(s.bytes("a.cpp"), "int a;\nint c;\n");
}

TEST_F(Links, TheOtherNamesOfAFileKeepItsBytesAndTheReportSaysSo) {
  s.file("a.cpp", "int a;\n");
  fs::create_hard_link(s.root() / "a.cpp", s.directory() / "other.cpp");
  s.patch("1.patch", kChangeA);
  EXPECT_EQ(s.run({"apply"}), 0);
  EXPECT_TRUE(holds(s.err, "a.cpp: note: the file has 2 names")) << s.err;
  EXPECT_EQ(s.bytes("a.cpp"), "int b;\n");
  EXPECT_EQ(read_bytes(s.directory() / "other.cpp"), "int a;\n");
}

TEST(Modes, AreKept) {
  for (const mode_t mode : {0755u, 0444u, 0600u}) {
    Scratch s;
    s.file("a.cpp", "int a;\n");
    chmod((s.root() / "a.cpp").c_str(), mode);
    s.patch("1.patch", kChangeA);
    ASSERT_EQ(s.run({"apply"}), 0) << s.err;
    struct stat info {};
    stat((s.root() / "a.cpp").c_str(), &info);
    EXPECT_EQ(info.st_mode & 07777, mode);
    EXPECT_EQ(s.bytes("a.cpp"), "int b;\n");
  }
}

}  // namespace
}  // namespace patcher
