// The program in a shell, a script or CI: empty variables, unreadable paths, full disks.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "patcher/base/verdict.h"
#include "tests/patcher/scratch.h"

namespace patcher {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::Test;

class Shell : public Test {
 protected:
  void SetUp() override {
    s.file("a.cpp", "int a;\n");
    s.patch("1.patch", kChangeA);
    write_bytes(s.directory() / "1.diff",
                "--- a/a.cpp\n+++ b/a.cpp\n@@ -1 +1 @@\n-int a;\n+int b;\n");
    // A path of which nobody, root neither, can say what it is.
    fs::create_symlink("loop", s.directory() / "loop");
  }
  std::string in(const std::string& name) const { return (s.directory() / name).string(); }
  Scratch s;
};

// --- an empty value is a variable that is not set, and never stands for "not given"

TEST_F(Shell, AnEmptyValueIsNamedAndRefused) {
  const std::vector<std::vector<std::string>> wrong = {
      {"check", "--rev", ""},      {"check", "--base", ""},
      {"check", "--base-rev", ""}, {"check", "--diffs", ""},
      {"check", "--format", ""},   {"diff", "--html", ""},
      {"diff", "--out-dir", ""},   {"apply", "--root", ""},
      {"apply", "--series", ""},   {"apply", "--commit", "--branch", ""}};
  for (auto args : wrong) {
    const std::string option = args[args.size() - 2];
    EXPECT_EQ(s.run(args), kExitUsage) << option;
    EXPECT_TRUE(s.err.starts_with("patcher: " + option + " has an empty value\n")) << s.err;
    args.pop_back();
    args.back() += "=";
    EXPECT_EQ(s.run(args), kExitUsage) << option;
    EXPECT_TRUE(s.err.starts_with("patcher: " + option + " has an empty value\n")) << s.err;
  }
  for (const char* verb : {"import", "drift"}) {
    EXPECT_EQ(s.run({verb, "", "--out-dir", in("made")}), kExitUsage) << verb;
    EXPECT_TRUE(holds(s.err, "an argument has an empty value")) << s.err;
  }
  EXPECT_EQ(s.bytes("a.cpp"), "int a;\n");
}

TEST_F(Shell, AnOptionIsNoValue) {
  for (const char* option : {"--rev", "--base", "--html", "--out-dir"}) {
    EXPECT_EQ(s.run({"diff", option, "--json"}), kExitUsage) << option;
    EXPECT_TRUE(holds(s.err, std::string(option) + " has no value: --json is an option")) << s.err;
  }
  EXPECT_EQ(s.run({"check", "--rev=--json"}), kExitEnvironment);
  EXPECT_EQ(s.run({"check", "--base", "--weird"}), kExitEnvironment);
}

// --- a path that cannot be looked at

TEST_F(Shell, APathThatCannotBeLookedAtIsABrokenEnvironment) {
  const auto fails = [&](std::vector<std::string> args, const std::string& words) {
    EXPECT_EQ(s.run(args), kExitEnvironment) << args.front();
    EXPECT_TRUE(holds(s.err, words)) << s.err;
  };
  const std::string long_name(300, 'x');
  const std::string made = in("made");
  fails({"import", in("loop"), "--out-dir", made}, "/loop: Too many levels of symbolic links");
  fails({"import", in("loop/1"), "--out-dir", made}, "/loop/1: Too many levels of symbolic links");
  fails({"import", long_name, "--out-dir", made}, "patcher: ");
  fails({"import", long_name + ".patch", "--out-dir", made}, long_name);
  fails({"check", "--diffs", in("loop")}, "/loop: Too many levels of symbolic links");
  fails({"check", "--diffs", in(long_name)}, "File name too long");
  fails({"check", "--diffs", in("1.diff")}, "1.diff: Not a directory");
  fs::create_directories(in("diffs"));
  fs::create_symlink("1.diff", in("diffs/1.diff"));
  fails({"check", "--diffs", in("diffs")}, "/diffs/1.diff: cannot be read");
  fails({"diff", "--out-dir", in("loop/x")}, "/loop/x: ");
  fails({"diff", "--html", in("loop/x")}, "/loop/x: ");
  fails({"import", in("1.diff"), "--out-dir", in("loop/x")}, "/loop/x/");
  const std::string series = (s.patches() / "series").string();
  for (const auto& [root, list] : {std::pair{in(long_name), series}, {s.root(), in(long_name)}}) {
    EXPECT_EQ(s.run_plain({"patcher", "--root", root, "--series", list}), kExitEnvironment);
    EXPECT_TRUE(holds(s.err, long_name)) << s.err;
  }
  EXPECT_FALSE(fs::exists(made));
}

TEST_F(Shell, WhatCannotBeWrittenIsNamedWithItsTree) {
  fs::create_directories(s.root() / ".patcher-journal-new");
  EXPECT_EQ(s.run({"apply"}), kExitEnvironment);
  EXPECT_EQ(s.err,
            "patcher: " + s.root().string() + "/.patcher-journal-new: create: File exists\n");
  write_bytes(s.root() / ".patcher-journal", "{}");
  EXPECT_EQ(s.run({"apply"}), kExitEnvironment);
  EXPECT_EQ(s.err, "patcher: " + s.root().string() + "/.patcher-journal is not a journal\n");
}

TEST_F(Shell, TheStateOfAPartNamesTheOperation) {
  s.file("new.cpp", "int n;\n");
  s.file("run.sh", "echo\n");
  s.patch("2.patch", "rename: old.cpp -> new.cpp\nmode: run.sh -> 755\n");
  EXPECT_EQ(s.run({"apply"}), exit_code(Verdict::kOutdated));
  EXPECT_TRUE(holds(s.err, "`rename: old.cpp -> new.cpp` (line 3): in place")) << s.err;
  EXPECT_TRUE(holds(s.err, "`mode: run.sh -> 755` (line 4): not applied")) << s.err;
}

// --- JSON of what has no verdict

TEST_F(Shell, JsonSaysWhatIsBroken) {
  const auto broken = [&](std::vector<std::string> args) {
    args.insert(args.end(), {"--json"});
    EXPECT_EQ(s.run(args), kExitEnvironment);
    const json j = json::parse(s.out);
    EXPECT_EQ(j["verb"], args.front());
    EXPECT_EQ(j["exit_code"], kExitEnvironment);
    EXPECT_EQ(s.err, "patcher: " + std::string(j["error"]) + "\n");
  };
  broken({"check", "--diffs", in("nowhere")});
  broken({"check", "--rev", "HEAD"});
  broken({"import", in("loop"), "--out-dir", in("made")});
  EXPECT_EQ(s.run({"check", "--diffs", in("nowhere")}), kExitEnvironment);
  EXPECT_EQ(s.out, "");
}

// --- files that the user names

TEST_F(Shell, AFileIsWrittenWholeBehindItsLinkAndKeepsItsMode) {
  write_bytes(in("page.html"), "old");
  fs::permissions(in("page.html"), fs::perms::owner_read | fs::perms::owner_write);
  fs::create_symlink("page.html", in("link.html"));
  ASSERT_EQ(s.run({"diff", "--html", in("link.html")}), 0) << s.err;
  EXPECT_TRUE(fs::is_symlink(in("link.html")));
  EXPECT_TRUE(holds(read_bytes(in("page.html")), "<html"));
  EXPECT_EQ(fs::status(in("page.html")).permissions(),
            fs::perms::owner_read | fs::perms::owner_write);
  EXPECT_EQ(s.run({"diff", "--html", in("no/page.html")}), kExitEnvironment);
  EXPECT_TRUE(holds(s.err, "/no/page.html: cannot be written: No such file or directory")) << s.err;
  EXPECT_EQ(s.run({"diff", "--html", s.root().string()}), kExitEnvironment);
  EXPECT_TRUE(holds(s.err, "/tree: cannot be written: Is a directory")) << s.err;
  EXPECT_EQ(read_tree(s.root()), (Tree{{"a.cpp", "int a;\n"}}));
}

TEST_F(Shell, APipeTakesThePage) {
  const std::string pipe = in("pipe");
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  const int fd = open(pipe.c_str(), O_RDWR | O_NONBLOCK);
  ASSERT_GE(fd, 0);
  ASSERT_GE(fcntl(fd, F_SETPIPE_SZ, 1 << 20), 0);
  EXPECT_EQ(s.run({"diff", "--html", pipe}), 0) << s.err;
  char begin[16] = {};
  EXPECT_EQ(read(fd, begin, 15), 15);
  EXPECT_STREQ(begin, "<!doctype html>");
  close(fd);
  EXPECT_TRUE(fs::is_fifo(pipe));
}

// --- a terminal that does what the text of a tree or a patch says

TEST_F(Shell, ReportsCarryNoControlCharacterOfATreeOrAPatch) {
  const std::string evil =
      "\x1b[2K\x7f\xc2\x9b"
      "31m\ré";
  const std::string line = "stop(\"" + evil + "\");\n";
  s.file("a.cpp", "void g() {\n  " + line + "  " + line + "}\n");
  s.patch("2.patch", "--- a.cpp\n+++ a.cpp\n@@ g @@\n-" + line + "+x();\n");
  write_bytes(s.patches() / "1.patch", "Subject: s" + evil + "\nWhy: w\n" + kChangeA);
  EXPECT_EQ(s.run({"check"}), exit_code(Verdict::kMissing));
  EXPECT_TRUE(holds(s.out, "  s [2K  31m é\n")) << s.out;
  EXPECT_TRUE(holds(s.err, "in g(): stop(\" [2K  31m é\");\n")) << s.err;
  for (const std::string& text : {s.out, s.err}) {
    EXPECT_EQ(text.find_first_of("\x1b\x7f\r"), std::string::npos) << text;
    EXPECT_FALSE(holds(text, "\xc2\x9b")) << text;
  }
  EXPECT_EQ(s.run({"check", "--diffs", in("no\x1b[2Kwhere"), "--until", "0"}), kExitEnvironment);
  EXPECT_TRUE(holds(s.err, "/no [2Kwhere: No such file")) << s.err;
}

// --- output that nobody gets

// Takes some bytes, then is full.
class Full : public std::streambuf {
 public:
  explicit Full(size_t room) : room_(room) {}

 protected:
  int_type overflow(int_type c) override {
    return room_ > 0 && room_-- > 0 ? c : traits_type::eof();
  }

 private:
  size_t room_;
};

TEST_F(Shell, OutputThatCannotBeWrittenIsNoSuccess) {
  const std::string root = s.root().string();
  const std::string series = (s.patches() / "series").string();
  const std::string diff = in("1.diff");
  const std::string made = in("made");
  const std::vector<std::vector<const char*>> all = {
      {"check"},
      {"check", "--json"},
      {"check", "--format", "sarif"},
      {"diff"},
      {"diff", "--side-by-side"},
      {"--help"},
      {"--version"},
      {"help", "apply"},
      {"completion", "bash"},
      {"import", diff.c_str(), "--json", "--out-dir", made.c_str()}};
  for (std::vector<const char*> args : all) {
    args.insert(args.begin(), "patcher");
    args.insert(args.end(), {"--root", root.c_str(), "--series", series.c_str()});
    for (const size_t room : {size_t{0}, size_t{20}}) {
      Full full(room);
      std::ostream out(&full);
      std::ostringstream err;
      EXPECT_EQ(run_cli(args, out, err), kExitEnvironment) << args[1];
      EXPECT_EQ(err.str(), "patcher: standard output: cannot be written\n") << args[1];
    }
  }
}

}  // namespace
}  // namespace patcher
