// What a series names is parsed before it is asked for, except for what may never be; and what is
// tried ahead changes nothing but the time.
#include "patcher/series/read_ahead.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>

#include "patcher/series/plan.h"

namespace patcher {
namespace {

class Files : public FileOrigin {
 public:
  explicit Files(std::map<std::string, std::string> bytes) : bytes_(std::move(bytes)) {}
  FileState read(const std::string& path) override {
    const auto found = bytes_.find(path);
    if (found == bytes_.end()) return {};
    return {.source = std::make_shared<Source>(path, found->second)};
  }

 private:
  std::map<std::string, std::string> bytes_;
};

std::string functions(size_t bytes) {
  std::string text;
  while (text.size() < bytes)
    text += "int f" + std::to_string(text.size()) + "() { return 1; }\n";
  return text;
}

Patch change(const std::string& path) {
  return parse_patch(path + ".patch", "Subject: s\nWhy: w\n\n--- " + path + "\n+++ " + path +
                                          "\n@@ f0 @@\n-return 1;\n+return 2;\n");
}

TEST(ReadAhead, ParsesWhatIsNamedUnlessItIsLargeOrUnusable) {
  const FileMap files(std::make_shared<Files>(std::map<std::string, std::string>{
      {"a.cpp", functions(9000)},
      {"b.cpp", functions(9000)},
      {"large.cpp", functions(600 << 10)},
      {"merge.cpp", functions(9000) + "<<<<<<< a\n=======\n>>>>>>> b\n"},
      {"unnamed.cpp", functions(9000)}}));
  Series series;
  for (const char* path : {"a.cpp", "b.cpp", "large.cpp", "merge.cpp", "absent.cpp"})
    series.patches.push_back(change(path));
  for (const Patch& patch : series.patches)
    ASSERT_TRUE(patch.usable()) << patch.errors.front().message;
  read_ahead(series, files);
  const auto parsed = [&](const char* path) { return files.on_disk(path).source->has_tree(); };
  EXPECT_TRUE(parsed("a.cpp"));
  EXPECT_TRUE(parsed("b.cpp"));
  EXPECT_FALSE(parsed("large.cpp"));
  EXPECT_FALSE(parsed("merge.cpp"));
  EXPECT_FALSE(parsed("unnamed.cpp"));
  EXPECT_FALSE(files.on_disk("absent.cpp").exists());
  EXPECT_FALSE(files.on_disk("merge.cpp").source->unreadable().empty());
}

// Patches of two files, large enough for threads, and what is special in some.
class TryAhead : public testing::Test {
 protected:
  void add(const std::string& sections) {
    const std::string name = fmt::format("{}.patch", series_.patches.size() + 1);
    series_.patches.push_back(parse_patch(name, "Subject: s\nWhy: w\n\n" + sections));
    const Patch& patch = series_.patches.back();
    ASSERT_TRUE(patch.usable()) << patch.errors.front().message;
  }
  // In function `f`, one number for another.
  static std::string section(const std::string& path, const std::string& f, int from, int to) {
    return fmt::format("--- {0}\n+++ {0}\n@@ {1} @@\n-return {2};\n+return {3};\n", path, f, from,
                       to);
  }
  static FileMap files(const std::string& a) {
    return FileMap(std::make_shared<Files>(
        std::map<std::string, std::string>{{"a.cpp", a}, {"b.cpp", functions(9000)}}));
  }

  // The plan is the one that is made of each patch judged for itself, nothing tried ahead.
  Plan expect_same_as_in_turn(const std::string& a) {
    Plan plan = plan_apply(series_, files(a));
    FileMap state = files(a);
    for (size_t i = plan.applied; i < series_.patches.size(); ++i) {
      SCOPED_TRACE(series_.patches[i].name);
      const Judgement alone = judge(series_.patches[i], state);
      const PatchPlan& planned = plan.patches[i];
      if (planned.verdict != Verdict::kObsolete) {
        EXPECT_EQ(verdict_name(planned.verdict), verdict_name(alone.verdict));
      }
      EXPECT_EQ(message(planned.findings), message(explained(alone.failures)));
      EXPECT_TRUE(planned.after.same_as(alone.after));
      state = alone.after;
    }
    return plan;
  }
  static std::string message(const std::vector<Finding>& findings) {
    return findings.empty() ? "" : findings.front().message;
  }

  std::string a_ = functions(9000);
  Series series_;
};

TEST_F(TryAhead, HasEveryTrialOfASeriesThatApplies) {
  add(section("a.cpp", "f0", 1, 2) + section("b.cpp", "f0", 1, 2));
  add(section("a.cpp", "f0", 2, 3));
  const FileMap disk = files(a_);
  TrialCache cache;
  try_ahead(series_, 0, disk, cache);
  const size_t made = cache.size();
  EXPECT_EQ(made, 3u * 4);  // three sections: forward and backward, before and after
  FileMap state = disk;
  for (const Patch& patch : series_.patches)
    state = judge(patch, state, cache).after;
  EXPECT_EQ(cache.size(), made);
  EXPECT_EQ(expect_same_as_in_turn(a_).verdict(), Verdict::kApplies);
}

TEST_F(TryAhead, GuessesThatTurnOutWrongAreNotUsed) {
  add(section("a.cpp", "f0", 1, 2) + section("b.cpp", "f0", 7, 8));  // refused for b.cpp
  add(section("a.cpp", "f0", 1, 3));                                 // so that this one applies
  add(section("a.cpp", "f0", 2, 4));                                 // and this one does not
  const Plan plan = expect_same_as_in_turn(a_);
  EXPECT_EQ(plan.patches[0].verdict, Verdict::kMissing);
  EXPECT_EQ(plan.patches[1].verdict, Verdict::kApplies);
  EXPECT_EQ(plan.patches[2].verdict, Verdict::kMissing);
}

TEST_F(TryAhead, OperationsChangeWhatTheNextPatchFinds) {
  add("mode: a.cpp -> 755\n\n" + section("a.cpp", "f0", 1, 2));
  add("rename: a.cpp -> c.cpp\n\n--- c.cpp\n+++ c.cpp\n@@ f0 @@\n-return 2;\n+return 3;\n");
  add(section("c.cpp", "f0", 3, 4));
  add("newline: c.cpp -> no\n\n" + section("c.cpp", "f0", 4, 5));
  add(section("c.cpp", "f0", 5, 6) + section("b.cpp", "f0", 1, 2));
  const Plan plan = expect_same_as_in_turn(a_);
  EXPECT_EQ(plan.verdict(), Verdict::kApplies) << message(plan.patches[0].findings);
  const FileState c = plan.result.get("c.cpp");
  EXPECT_TRUE(c.source->bytes().starts_with("int f0() { return 6; }\n"));
  EXPECT_FALSE(c.source->bytes().ends_with('\n'));
  EXPECT_NE(c.mode & 0111, 0u);
  EXPECT_FALSE(plan.result.get("a.cpp").exists());
}

TEST_F(TryAhead, BeginsBehindWhatIsApplied) {
  add(section("a.cpp", "f0", 1, 2));
  const Plan first = plan_apply(series_, files(a_));
  add(section("a.cpp", "f0", 2, 3) + section("b.cpp", "f0", 1, 2));
  const Plan plan = expect_same_as_in_turn(first.result.get("a.cpp").source->bytes());
  EXPECT_EQ(plan.applied, 1u);
  EXPECT_EQ(plan.verdict(), Verdict::kApplies);
}

}  // namespace
}  // namespace patcher
