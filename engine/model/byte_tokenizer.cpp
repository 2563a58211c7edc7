#include "model/byte_tokenizer.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string_view>

#include "model/byte_alphabet.h"

namespace engine::model {
namespace {

using nlohmann::ordered_json;

// Best first. Trained on English prose about programs.
constexpr std::string_view kMerges[][2] = {
    {" ", "t"},   {"h", "e"},  {" ", "a"}, {"r", "e"},  {" ", "o"},  {" t", "he"}, {"e", "r"},
    {"i", "n"},   {" ", "c"},  {"r", "o"}, {"e", "n"},  {"a", "t"},  {"s", "t"},   {" ", "p"},
    {"o", "n"},   {"e", "d"},  {"i", "t"}, {"i", "s"},  {"n", "d"},  {" ", "w"},   {" ", "s"},
    {" ", "b"},   {" o", "f"}, {" ", "f"}, {" ", "d"},  {" ", "m"},  {"a", "c"},   {"a", "l"},
    {" ", "l"},   {"r", "i"},  {"o", "u"}, {" ", "re"}, {"e", "s"},  {"i", "on"},  {"a", "n"},
    {" t", "h"},  {"g", "e"},  {"u", "n"}, {"u", "t"},  {"a", "r"},  {"m", "p"},   {" ", "is"},
    {"o", "r"},   {" t", "o"}, {"s", "e"}, {"i", "l"},  {" ", "in"}, {"in", "g"},  {" a", "nd"},
    {" p", "ro"}, {" ", "n"},  {"o", "l"}, {"i", "c"},  {"c", "h"},  {"a", "s"},   {"l", "e"}};

struct Mark {
  std::string_view text;
  bool special;
};

// Tool calls are text that the model writes and that comes back as content, so they are not
// special.
constexpr std::array<Mark, 8> kMarks{{{"<|begin|>", true},
                                      {"<|system|>", true},
                                      {"<|user|>", true},
                                      {"<|assistant|>", true},
                                      {"<|tool|>", true},
                                      {"<|end|>", true},
                                      {"<tool_call>", false},
                                      {"</tool_call>", false}}};

constexpr std::size_t kFirstMark = 256 + std::size(kMerges);

// Words with their leading blank, single digits, runs of punctuation, line ends, blanks.
constexpr std::string_view kPieces =
    R"( ?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

ordered_json vocabulary() {
  ordered_json ids = ordered_json::object();
  for (unsigned byte = 0; byte < 256; ++byte) {
    ids[to_alphabet(std::string(1, static_cast<char>(byte)))] = byte;
  }
  Token next = 256;
  for (const auto& [left, right] : kMerges) {
    ids[to_alphabet(std::string(left) + std::string(right))] = next++;
  }
  return ids;
}

ordered_json merges() {
  ordered_json pairs = ordered_json::array();
  for (const auto& [left, right] : kMerges)
    pairs.push_back({to_alphabet(left), to_alphabet(right)});
  return pairs;
}

ordered_json added_tokens() {
  ordered_json tokens = ordered_json::array();
  for (const Mark& mark : kMarks) {
    tokens.push_back({{"id", kFirstMark + tokens.size()},
                      {"content", mark.text},
                      {"single_word", false},
                      {"lstrip", false},
                      {"rstrip", false},
                      {"normalized", false},
                      {"special", mark.special}});
  }
  return tokens;
}

ordered_json byte_level() {
  return {{"type", "ByteLevel"},
          {"add_prefix_space", false},
          {"trim_offsets", true},
          {"use_regex", false}};
}

}  // namespace

std::size_t byte_tokenizer_size() {
  return kFirstMark + kMarks.size();
}

Token byte_tokenizer_end() {
  const auto* const end = std::ranges::find(kMarks, "<|end|>", &Mark::text);
  return static_cast<Token>(kFirstMark) + static_cast<Token>(end - kMarks.begin());
}

std::string byte_tokenizer_json() {
  const ordered_json split = {{"type", "Split"},
                              {"pattern", {{"Regex", kPieces}}},
                              {"behavior", "Isolated"},
                              {"invert", false}};
  const ordered_json tokenizer = {
      {"version", "1.0"},
      {"truncation", nullptr},
      {"padding", nullptr},
      {"added_tokens", added_tokens()},
      {"normalizer", nullptr},
      {"pre_tokenizer", {{"type", "Sequence"}, {"pretokenizers", {split, byte_level()}}}},
      {"post_processor", nullptr},
      {"decoder", byte_level()},
      {"model", {{"type", "BPE"}, {"vocab", vocabulary()}, {"merges", merges()}}}};
  return tokenizer.dump(1) + "\n";
}

std::string byte_chat_format_json() {
  ordered_json roles;
  for (const std::string role : {"system", "user", "assistant", "tool"}) {
    roles[role] = {{"prefix", "<|" + role + "|>"}, {"suffix", "<|end|>"}};
  }
  const ordered_json chat = {
      {"begin", "<|begin|>"}, {"roles", roles}, {"generation_prompt", "<|assistant|>"}};
  return chat.dump(2) + "\n";
}

}  // namespace engine::model
