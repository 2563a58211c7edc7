#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "patcher/cli/cli.h"

namespace patcher {

// All regular files and links below a directory, by relative path; a link reads as "-> target".
using Tree = std::map<std::string, std::string>;

// The hunks of a patch of a.cpp, which holds "int a;".
inline const char* const kChangeA = "--- a.cpp\n+++ a.cpp\n@@ file @@\n-int a;\n+int b;\n";

inline bool holds(const std::string& text, const std::string& words) {
  return text.find(words) != std::string::npos;
}

inline std::string read_bytes(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  return std::move(out).str();
}

inline void write_bytes(const std::filesystem::path& path, std::string_view bytes) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

inline Tree read_tree(const std::filesystem::path& root) {
  Tree tree;
  if (!std::filesystem::exists(root)) return tree;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
    const std::string name = entry.path().lexically_relative(root).string();
    if (entry.is_symlink()) {
      tree[name] = "-> " + std::filesystem::read_symlink(entry.path()).string();
    } else if (entry.is_regular_file()) {
      tree[name] = read_bytes(entry.path());
    }
  }
  return tree;
}

// A directory of its own with a tree and a series, and the program run on them in this process.
class Scratch {
 public:
  Scratch() {
    std::string pattern = (std::filesystem::temp_directory_path() / "patcher-test-XXXXXX").string();
    directory_ = mkdtemp(pattern.data());
    std::filesystem::create_directories(root());
    std::filesystem::create_directories(patches());
  }
  ~Scratch() { std::filesystem::remove_all(directory_); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  std::filesystem::path directory() const { return directory_; }
  std::filesystem::path root() const { return directory_ / "tree"; }
  std::filesystem::path patches() const { return directory_ / "patches"; }

  void file(const std::string& path, std::string_view bytes) { write_bytes(root() / path, bytes); }
  std::string bytes(const std::string& path) const { return read_bytes(root() / path); }

  // Adds a patch to the series; Subject and Why are put before `body`.
  void patch(const std::string& name, const std::string& body) {
    write_bytes(patches() / name, "Subject: " + name + "\nWhy: test\n" + body);
    series_ += name + "\n";
    write_bytes(patches() / "series", series_);
  }

  int run(std::vector<std::string> args) {
    args.insert(args.begin(), "patcher");
    args.insert(args.end(),
                {"--root", root().string(), "--series", (patches() / "series").string()});
    return run_plain(args);
  }
  int run_plain(const std::vector<std::string>& args) {
    std::vector<const char*> pointers;
    for (const std::string& arg : args)
      pointers.push_back(arg.c_str());
    std::ostringstream out_stream;
    std::ostringstream err_stream;
    const int code = run_cli(pointers, out_stream, err_stream);
    out = out_stream.str();
    err = err_stream.str();
    return code;
  }

  std::string out;
  std::string err;

 private:
  std::filesystem::path directory_;
  std::string series_;
};

}  // namespace patcher
