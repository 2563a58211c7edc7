// What tokenizer.json says, checked: everything that would need another algorithm than byte-level
// BPE is refused here. Internal.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "model/splitter.h"
#include "model/token.h"

namespace engine::model {

struct AddedToken {
  Token token;
  std::string content;  // matched in text before anything else
  bool special;
};

struct MergeRule {
  Token left, right, result;
};

struct TokenizerFile {
  // By id: the bytes of each token of the vocabulary, empty where the id has none. Added tokens are
  // not in it.
  std::vector<std::string> vocabulary;
  std::vector<MergeRule> merges;  // best first
  std::vector<AddedToken> added;
  std::vector<SplitRule> splits;  // applied one after the other
  bool ignore_merges = false;  // a piece that is a token of the vocabulary is not built by merges
  bool nfc = false;            // text is expected in Unicode's NFC form

  // Throws ModelError.
  static TokenizerFile parse(std::string_view json, const std::filesystem::path& file);
};

}  // namespace engine::model
