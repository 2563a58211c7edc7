// What a series names is parsed before it is asked for, except for what may never be.
#include "patcher/read_ahead.h"

#include <gtest/gtest.h>

#include <map>

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

}  // namespace
}  // namespace patcher
