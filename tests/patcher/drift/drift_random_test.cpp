// drift A..B over histories made at random says at each commit what a dry run there says, which
// knows nothing of other commits: no reuse between versions, no memory, one thread.
#include <nlohmann/json.hpp>

#include <map>
#include <random>

#include "patcher/base/verdict.h"
#include "tests/patcher/git_scratch.h"

namespace patcher {
namespace {

using nlohmann::json;

constexpr int kFunctions = 5;

std::string function(int i, const std::string& body) {
  return "int step" + std::to_string(i) + "(int rows) {\n" + body + "  return rows;\n}\n\n";
}

// A file whose functions upstream changes in ways that patches survive, and in ways that they do
// not.
class Upstream {
 public:
  Upstream() {
    for (int i = 0; i < kFunctions; ++i)
      bodies_.push_back("  call" + std::to_string(i) + "(rows);\n");
  }

  void change(std::mt19937& random) {
    std::string& body = bodies_[random() % kFunctions];
    const std::string i = std::to_string(&body - bodies_.data());
    switch (random() % 9) {
      case 0:  // the anchor twice
        body += "  call" + i + "(rows);\n";
        break;
      case 1:  // what the patch makes
        body = "  call" + i + "(rows + 1);\n";
        break;
      case 2:
        body = "  gone();\n";
        break;
      case 3:  // damage that reaches further than its line
        body += "  if (rows > (\n";
        break;
      case 4:
        prefix_ = prefix_.empty() ? "namespace n {\n" : "";
        break;
      case 5:
        mode_ = !mode_;
        break;
      case 6:
        exists_ = !exists_;
        break;
      default:
        body = "  call" + i + "(rows);\n  note(" + std::to_string(random() % 100) + ");\n";
    }
  }

  void write(GitScratch& s, const std::string& path) const {
    if (!exists_) return void(std::filesystem::remove(s.root() / path));
    s.file(path, text());
    std::filesystem::permissions(s.root() / path, std::filesystem::perms(mode_ ? 0755 : 0644));
  }

 private:
  std::string text() const {
    std::string text = prefix_;
    for (int i = 0; i < kFunctions; ++i)
      text += function(i, bodies_[static_cast<size_t>(i)]);
    return text;
  }

  std::string prefix_;
  std::vector<std::string> bodies_;
  bool mode_ = false;
  bool exists_ = true;
};

std::string hunk(const std::string& path, const std::string& scope, int i) {
  const std::string call = "  call" + std::to_string(i);
  return "--- " + path + "\n+++ " + path + "\n@@ " + scope + " @@\n-" + call + "(rows);\n+" + call +
         "(rows + 1);\n";
}

std::map<std::string, json> walked(GitScratch& s, const std::string& range) {
  s.run({"drift", range, "--json"});
  std::map<std::string, json> events;  // by patch and commit
  const json drift = json::parse(s.out);
  for (const json& patch : drift["patches"]) {
    const std::string name = patch["name"];
    for (const json& event : patch["events"])
      events[name + " " + event["commit"].get<std::string>()] = event;
    events[name + " last"] = patch;
  }
  return events;
}

// What is the same of a finding: a dry run of the whole series has more hints.
json first_of(const json& findings) {
  if (findings.empty()) return nullptr;
  const json& f = findings.front();
  return {f["verdict"], f["message"], f["file"], f["line"], f["candidates"]};
}

class RandomHistory : public testing::TestWithParam<unsigned> {};

TEST_P(RandomHistory, IsJudgedAsByDryRunsOfEachCommit) {
  std::mt19937 random(GetParam());
  GitScratch s;
  Upstream a;
  Upstream b;
  a.write(s, "a.cpp");
  b.write(s, "b.cpp");
  const std::string first = s.commit("base");
  s.patch("1.patch", hunk("a.cpp", "step1", 1));
  s.patch("2.patch", hunk("b.cpp", "file", 2));
  s.patch("3.patch", hunk("a.cpp", "step3(int)", 3));
  s.patch("4.patch", "mode: b.cpp -> 755\n");
  s.patch("5.patch", hunk("b.cpp", "step0", 0) + "@@ step4 @@\n   call4(rows);\n+  more();\n");
  std::vector<std::string> ids{first};
  for (int i = 0; i < 25; ++i) {
    (random() % 2 == 0 ? a : b).change(random);
    a.write(s, "a.cpp");
    b.write(s, "b.cpp");
    ids.push_back(s.commit("step"));
  }
  const auto events = walked(s, first + ".." + ids.back());
  std::map<std::string, json> now;
  for (const std::string& id : ids) {
    s.run({"check", "--rev", id, "--json"});
    const json there = json::parse(s.out);
    for (const json& patch : there["patches"]) {
      const std::string name = patch["name"];
      const auto event = events.find(name + " " + id);
      if (event != events.end()) now[name] = event->second;
      std::string verdict = patch["verdict"];
      if (verdict == "already_applied") verdict = "obsolete";
      ASSERT_EQ(now[name]["verdict"], verdict) << name << " at " << id;
      if (verdict == "obsolete") continue;
      const json why = first_of(patch["findings"]);
      if (event != events.end()) {
        EXPECT_EQ(first_of(event->second["findings"]), why);
      }
      if (id == ids.back()) {
        EXPECT_EQ(first_of(events.at(name + " last")["findings"]), why);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomHistory, testing::Range(1u, 7u),
                         testing::PrintToStringParamName());

}  // namespace
}  // namespace patcher
