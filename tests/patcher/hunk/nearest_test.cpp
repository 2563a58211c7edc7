#include "patcher/hunk/nearest.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace patcher {
namespace {

std::string random_words(std::mt19937& rng, size_t count) {
  std::string text;
  for (; count > 0; --count)
    text += std::string(1, static_cast<char>('a' + rng() % 6)) + " ";
  return text + "\n";
}

std::vector<uint32_t> numbers_of(const std::string& text) {
  std::vector<uint32_t> out;
  for (const char c : text) {
    if (c >= 'a') out.push_back(static_cast<uint32_t>(c));
  }
  return out;
}

// Looking at the rarest tokens first finds what looking everywhere does.
TEST(NearestPlace, IsTheNearestOfAll) {
  std::mt19937 rng(1);
  for (int i = 0; i < 2000; ++i) {
    const std::string text = random_words(rng, 1 + rng() % 60);
    const std::string anchor = random_words(rng, 1 + rng() % 8);
    const Source source("a.cpp", text);
    const Side side = make_side({.lines = {{.text = anchor.substr(0, anchor.size() - 1)}}},
                                Language::kCpp, HunkLine::Kind::kRemoved);
    const auto size = static_cast<uint32_t>(source.code().size());
    const std::vector<CodeRange> ranges{{static_cast<uint32_t>(rng() % size), size}};
    const auto wanted = nearest_run(numbers_of(anchor), numbers_of(text), ranges);
    const auto found = nearest_place(source, side, ranges);
    ASSERT_EQ(found.has_value(), wanted.has_value()) << anchor << text;
    if (!found) continue;
    ASSERT_EQ(found->byte, source.tokens()[source.code()[wanted->at]].begin) << anchor << text;
    ASSERT_EQ(found->equal, wanted->equal);
    ASSERT_EQ(found->token, wanted->prefix + 1);
  }
}

}  // namespace
}  // namespace patcher
