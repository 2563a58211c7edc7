// Nothing that a tree, a patch, a path, a commit or a command line says reaches a terminal raw:
// every verb in every output, on text that would conceal what follows it.
#include "tests/patcher/git_scratch.h"

namespace patcher {
namespace {

// Of 7 bits, of 8 bits in UTF-8, and DEL. The program itself never conceals.
const std::string kEvil =
    "\x1b[8m\x7f\xc2\x9b"
    "8m!";

// What a path of a tree may hold of it; more is refused by name.
const std::string kEvilName =
    "\xc2\x9b"
    "8m!";

// Without what the program itself puts around words, and its progress. (g++ 12 sees uninitialised
// values in std::regex where a sanitizer is on.)
std::string without_styles(std::string text) {
  for (const std::string style : {"0", "1", "1;31", "31", "32", "36", "7", "27"}) {
    const std::string ours = "\x1b[" + style + "m";
    for (size_t at = 0; (at = text.find(ours, at)) != std::string::npos;)
      text.erase(at, ours.size());
  }
  const std::string clear = "\x1b[K";
  const std::string progress = " versions" + clear;
  for (size_t end = 0; (end = text.find(progress)) != std::string::npos;) {
    const size_t count = text.find_last_not_of("0123456789/", end - 1);
    if (count == std::string::npos || text[count] != '\r') break;
    text.erase(count, end + progress.size() - count);
    if (text.compare(count, 1 + clear.size(), "\r" + clear) == 0)
      text.erase(count, 1 + clear.size());
  }
  return text;
}

bool has_controls(const std::string& text) {
  return without_styles(text).find_first_of("\x1b\x7f\r") != std::string::npos ||
         text.find("\xc2\x9b") != std::string::npos;
}

class HostileText : public testing::Test {
 protected:
  void SetUp() override {
    s.file(path, "void f() {\n  go(1);  // " + kEvil + "\n  stop();\n  stop();\n}\n");
    first = s.commit("first " + kEvil + "\n\nbody " + kEvil);
    write_bytes(s.directory() / "base" / path, s.bytes(path));
    change("  go(1);  // " + kEvil, "  go(2);  // " + kEvil);
    diff = (s.directory() / ("d" + kEvil + ".diff")).string();
    write_bytes(diff,
                "--- \"a/d\\302\\2338m!/a.cpp\"\n+++ \"b/d\\302\\2338m!/a.cpp\"\n"
                "@@ -1,3 +1,3 @@\n void f() {\n-  go(1);  // " +
                    kEvil + "\n+  go(3);  // " + kEvil + "\n   stop();\n");
  }

  // The series' one patch: `before` to `after`, with everything about it hostile.
  void change(const std::string& before, const std::string& after) {
    const std::string name = "1" + kEvilName + ".patch";
    write_bytes(s.patches() / "series", name + "\n");
    write_bytes(s.patches() / name, "Subject: s" + kEvil + "\nWhy: w" + kEvil + "\n\n--- " + path +
                                        "\n+++ " + path + "\n@@ f @@\n-" + before + "\n+" + after +
                                        "\n");
  }

  // Runs as a user at a terminal would, with and without colours, and for programs. The output is
  // to hold `words`, the neighbours of what is hostile.
  void expect_clean(std::vector<std::string> args, const std::string& words, bool json = true) {
    args.insert(args.begin(), "patcher");
    for (const std::string way : {"", "--color=always", "--json"}) {
      if (way == "--json" && !json) continue;
      std::vector<std::string> all = args;
      if (!way.empty()) all.push_back(way);
      std::vector<const char*> pointers;
      for (const std::string& arg : all)
        pointers.push_back(arg.c_str());
      std::ostringstream out;
      std::ostringstream err;
      run_cli(pointers, out, err,
              {.out_is_terminal = true, .err_is_terminal = true, .no_color = true});
      const std::string text = out.str() + err.str();
      EXPECT_FALSE(has_controls(text)) << args[1] << " " << way << ":\n" << text;
      EXPECT_TRUE(holds(without_styles(text), words)) << args[1] << " " << way << ":\n" << text;
    }
  }

  std::vector<std::string> with_series(std::vector<std::string> args) const {
    args.insert(args.end(),
                {"--root", s.root().string(), "--series", (s.patches() / "series").string()});
    return args;
  }
  std::string made(const std::string& name) const {
    return (s.directory() / name).string() + kEvil;
  }

  GitScratch s;
  const std::string path = "d" + kEvilName + "/a.cpp";
  std::string first;
  std::string diff;
};

TEST_F(HostileText, OfAPatchThatApplies) {
  expect_clean(with_series({"check"}), "8m!");
  expect_clean(with_series({"check", "--format", "github"}), "", false);
  expect_clean(with_series({"check", "--format", "sarif"}), "", false);
  expect_clean(with_series({"check", "--rev", "main"}), "8m!");
  expect_clean(with_series({"check", "--base", (s.directory() / "base").string()}), "8m!");
  expect_clean(with_series({"diff"}), "go(2);  //");
  expect_clean(with_series({"diff", "--stat"}), "8m!/a.cpp");
  expect_clean(with_series({"diff", "--side-by-side"}), "go(2);  //");
  expect_clean(with_series({"diff", "--out-dir", made("diffs")}), "8m!");
  expect_clean(with_series({"diff", "--html", made("page")}), "8m!");
  expect_clean(with_series({"check", "--diffs", made("diffs")}), "8m!");
  expect_clean(with_series({"drift", first + "..main"}), "8m!");
  expect_clean(
      with_series({"carry", "--base", (s.directory() / "base").string(), "--out-dir", made("c")}),
      "8m!");
  expect_clean(with_series({"apply"}), "8m!");
  expect_clean(with_series({"revert"}), "8m!");
  expect_clean(with_series({"apply", "--commit"}), "8m!");
}

TEST_F(HostileText, OfAPatchThatIsRefused) {
  for (const std::string& line : {std::string("  stop();"), "  gone(); // " + kEvil}) {
    change(line, "  go(9);");
    for (const char* verb : {"check", "diff", "apply"})
      expect_clean(with_series({verb}), "8m!/a.cpp");
    expect_clean(with_series({"drift", "main..main"}), "");
    expect_clean(with_series({"check", "--format", "github"}), "file=", false);
    expect_clean(with_series({"check", "--format", "sarif"}), "d%C2%9B8m", false);
    expect_clean(with_series({"check", "--base", (s.directory() / "base").string()}), "8m!");
    expect_clean(
        with_series({"carry", "--base", (s.directory() / "base").string(), "--out-dir", made("c")}),
        "8m!");
  }
}

TEST_F(HostileText, OfCommitsAndDiffsThatAreImported) {
  s.file(path, "void f() {\n  go(7);  // " + kEvil + "\n  stop();\n  stop();\n}\n");
  s.commit("second " + kEvil);
  expect_clean({"import", first + "..main", "--root", s.root().string(), "--out-dir", made("i")},
               "8m");
  expect_clean(with_series({"drift", first + "..main"}), "second");
  const std::string base = (s.directory() / "base").string();
  expect_clean({"import", diff, "--base", base, "--out-dir", made("j")}, "8m!");
  write_bytes(diff, "--- " + path + "\n+++ " + path + "\n@@ -1,1 +1,1 @@\n-" + kEvil + "\n+x\n");
  expect_clean({"import", diff, "--base", base, "--out-dir", made("k")}, "8m!");
}

TEST_F(HostileText, OfWhatTheUserNamed) {
  const std::string evil = "x" + kEvil;
  expect_clean(with_series({"check", "--rev", evil}), "8m!");
  expect_clean(with_series({"check", "--rev", "main:d" + kEvilName}), "8m!");
  expect_clean(with_series({"drift", evil + ".." + evil}), "8m!");
  expect_clean(with_series({"check", "--base", evil}), "8m!");
  expect_clean({"check", "--root", evil}, "", true);
  expect_clean({"check", "--series", evil}, "8m!");
  expect_clean({evil}, "8m!", false);
  expect_clean({"--" + evil}, "8m!", false);
  expect_clean({"help", evil}, "8m!", false);
  expect_clean({"check", "--until", evil}, "8m!", false);
  write_bytes(s.patches() / "series", evil + "\n");
  for (const char* verb : {"check", "diff", "apply", "revert"})
    expect_clean(with_series({verb}), "8m!");
  expect_clean(with_series({"check", "--format", "github"}), "8m!", false);
  write_bytes(s.patches() / "series", "p.patch\n");
  write_bytes(s.patches() / "p.patch", "Subject: s\n" + evil + ": 1\n");
  expect_clean(with_series({"check"}), "8m!");
}

// What `git apply` reads from a pipe or a file keeps the bytes of the code, and nothing else does.
TEST_F(HostileText, InADiffForAProgramOnlyCodeIsRaw) {
  ASSERT_EQ(s.run({"diff"}), 0) << s.err;
  std::istringstream lines(s.out);
  bool raw = false;
  for (std::string line; std::getline(lines, line);) {
    const bool header = line.starts_with("+++") || line.starts_with("---");
    const bool code = !header && line.find_first_of(" +-") == 0;
    raw = raw || (code && has_controls(line));
    EXPECT_TRUE(code || !has_controls(line)) << line;
  }
  EXPECT_TRUE(raw);
  EXPECT_TRUE(holds(s.out, "\n--- \"a/d\\302\\2338m!/a.cpp\"\n")) << s.out;
  const std::string command = "cd '" + s.root().string() + "' && git apply -";
  FILE* pipe = popen(command.c_str(), "w");
  fwrite(s.out.data(), 1, s.out.size(), pipe);
  EXPECT_EQ(pclose(pipe), 0);
  EXPECT_TRUE(holds(s.bytes(path), "go(2);  // " + kEvil + "\n")) << s.bytes(path);
}

}  // namespace
}  // namespace patcher
