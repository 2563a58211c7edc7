#include "patcher/tree/file_map.h"

#include <gtest/gtest.h>

#include <random>

namespace patcher {
namespace {

using Texts = std::map<std::string, std::string>;

Texts texts_of(const FileMap& files) {
  Texts out;
  for (const std::string& path : files.list())
    out[path] = files.get(path).source->bytes();
  return out;
}

FileState state_of(const std::string& path, const std::string& text) {
  if (text.empty()) return {};
  return {.source = std::make_shared<Source>(path, text)};
}

// What is put into a copy is nobody else's, whatever they share.
TEST(FileMap, CopiesAreIndependent) {
  std::mt19937 rng(1);
  std::vector<std::pair<FileMap, Texts>> copies{{FileMap(std::make_shared<FileOrigin>()), {}}};
  for (int i = 0; i < 400; ++i) {
    auto [files, texts] = copies[rng() % copies.size()];
    const std::string path = "f" + std::to_string(rng() % 40) + ".txt";
    const std::string text = rng() % 4 == 0 ? "" : "v" + std::to_string(rng() % 3) + "\n";
    files.put(path, state_of(path, text));
    texts.erase(path);
    if (!text.empty()) texts[path] = text;
    copies.emplace_back(std::move(files), std::move(texts));
  }
  for (const auto& [files, texts] : copies) {
    ASSERT_EQ(texts_of(files), texts);
    ASSERT_EQ(files.changed().size(), texts.size());
  }
  for (int i = 0; i < 2000; ++i) {
    const auto& [a, a_texts] = copies[rng() % copies.size()];
    const auto& [b, b_texts] = copies[rng() % copies.size()];
    ASSERT_EQ(a.same_as(b), a_texts == b_texts);
  }
}

}  // namespace
}  // namespace patcher
