// A small, complete tokenizer.json for tests to vary: the 256 bytes (id = value), then what is
// given.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "model/byte_alphabet.h"
#include "model/tokenizer.h"

namespace engine::model {

using StringPairs = std::vector<std::pair<std::string, std::string>>;

// Merges in order of rank, as bytes; each new token gets the next id from 256.
inline nlohmann::json tokenizer_json(const StringPairs& merges = {}) {
  nlohmann::json vocabulary = nlohmann::json::object();
  nlohmann::json pairs = nlohmann::json::array();
  for (int byte = 0; byte < 256; ++byte) {
    vocabulary[to_alphabet(std::string(1, static_cast<char>(byte)))] = byte;
  }
  for (const auto& [left, right] : merges) {
    const std::string token = to_alphabet(left + right);
    const std::size_t next = vocabulary.size();
    if (!vocabulary.contains(token)) vocabulary[token] = next;
    pairs.push_back({to_alphabet(left), to_alphabet(right)});
  }
  return {
      {"added_tokens", nlohmann::json::array()},
      {"normalizer", nullptr},
      {"pre_tokenizer", {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"use_regex", false}}},
      {"decoder", {{"type", "ByteLevel"}}},
      {"model", {{"type", "BPE"}, {"vocab", vocabulary}, {"merges", pairs}}}};
}

inline void add_token(nlohmann::json& tokenizer, int id, const std::string& content, bool special) {
  tokenizer["added_tokens"].push_back({{"id", id}, {"content", content}, {"special", special}});
}

inline Tokenizer parse_tokenizer(const nlohmann::json& tokenizer) {
  return Tokenizer::parse(tokenizer.dump(), "tokenizer.json");
}

}  // namespace engine::model
