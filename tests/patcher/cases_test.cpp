// A case is a folder: before/ (the tree), *.patch in order of name (or with a `series` file), and
// `expected`, lines of:
//   patch N VERDICT    patch N's verdict in the dry run
//   exit CODE          the exit code of the dry run and of apply
//   says TEXT          the report holds TEXT
//   inexact            revert restores the tokens and not every byte
// Where the dry run gives 0 there is after/ (the tree's bytes after apply). Such a case must then
// be recognised as applied, keep every modification time, and revert to before/. Any other must
// change nothing. A folder's name says what is special about the case.
#include <nlohmann/json.hpp>

#include "tests/patcher/scratch.h"

namespace patcher {
namespace {

namespace fs = std::filesystem;

struct Expected {
  std::map<int, std::string> verdicts;
  std::vector<std::string> says;
  int exit = 0;
  bool inexact = false;
};

Expected read_expected(const fs::path& path) {
  Expected e;
  std::istringstream in(read_bytes(path));
  for (std::string word; in >> word;) {
    std::string rest;
    if (word == "inexact") {
      e.inexact = true;
      continue;
    }
    std::getline(in >> std::ws, rest);
    if (word == "patch") {
      std::istringstream pair(rest);
      int number = 0;
      pair >> number;
      pair >> e.verdicts[number];
    } else if (word == "exit") {
      e.exit = std::stoi(rest);
    } else if (word == "says") {
      e.says.push_back(rest);
    } else {
      ADD_FAILURE() << path << ": unknown word " << word;
    }
  }
  return e;
}

std::vector<std::string> case_names() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(PATCHER_CASES)) {
    names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::map<std::string, fs::file_time_type> times(const fs::path& root) {
  std::map<std::string, fs::file_time_type> out;
  for (const auto& entry : fs::recursive_directory_iterator(root)) {
    if (entry.is_regular_file()) out[entry.path().string()] = entry.last_write_time();
  }
  return out;
}

class PatchCase : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    folder_ = fs::path(PATCHER_CASES) / GetParam();
    fs::copy(folder_ / "before", scratch_.root(), kCopy);
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder_)) {
      if (!entry.is_regular_file()) continue;
      fs::copy(entry.path(), scratch_.patches() / entry.path().filename());
      if (entry.path().extension() == ".patch") names.push_back(entry.path().filename().string());
    }
    std::sort(names.begin(), names.end());
    std::string series;
    for (const std::string& name : names)
      series += name + "\n";
    if (!fs::exists(folder_ / "series")) write_bytes(scratch_.patches() / "series", series);
    expected_ = read_expected(folder_ / "expected");
  }

  void expect_verdicts() {
    EXPECT_EQ(scratch_.run({"check", "--json"}), expected_.exit) << scratch_.out << scratch_.err;
    const auto report = nlohmann::json::parse(scratch_.out);
    EXPECT_EQ(report["exit_code"], expected_.exit);
    for (const auto& [number, verdict] : expected_.verdicts) {
      EXPECT_EQ(report["patches"].at(static_cast<size_t>(number) - 1)["verdict"], verdict);
    }
    EXPECT_EQ(scratch_.run({"check"}), expected_.exit);
    const std::string text = scratch_.out + scratch_.err;
    for (const std::string& words : expected_.says) {
      EXPECT_NE(text.find(words), std::string::npos) << "no `" << words << "` in:\n" << text;
    }
  }

  static constexpr auto kCopy = fs::copy_options::recursive | fs::copy_options::copy_symlinks;
  fs::path folder_;
  Scratch scratch_;
  Expected expected_;
};

TEST_P(PatchCase, Holds) {
  const Tree before = read_tree(folder_ / "before");
  expect_verdicts();
  EXPECT_EQ(read_tree(scratch_.root()), before) << "the dry run wrote";
  EXPECT_EQ(scratch_.run({"apply"}), expected_.exit);
  if (expected_.exit != 0) {
    EXPECT_EQ(read_tree(scratch_.root()), before) << "a refused run wrote";
    return;
  }
  const Tree after = read_tree(folder_ / "after");
  EXPECT_EQ(read_tree(scratch_.root()), after);
  const auto stamps = times(scratch_.root());
  EXPECT_EQ(scratch_.run({"apply"}), 0) << scratch_.out << scratch_.err;
  EXPECT_EQ(scratch_.run({"apply", "--expect-changes"}), 10) << scratch_.out;
  EXPECT_EQ(read_tree(scratch_.root()), after) << "the second run wrote";
  EXPECT_EQ(times(scratch_.root()), stamps);
  EXPECT_EQ(scratch_.run({"revert"}), 0) << scratch_.out << scratch_.err;
  if (!expected_.inexact) {
    EXPECT_EQ(read_tree(scratch_.root()), before);
  }
}

std::string test_name(const testing::TestParamInfo<std::string>& param) {
  std::string name = param.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Folders, PatchCase, testing::ValuesIn(case_names()), test_name);

}  // namespace
}  // namespace patcher
