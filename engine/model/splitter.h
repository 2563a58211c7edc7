// The pre-tokenizer's cuts: text to pieces. Internal.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "model/error.h"

struct pcre2_real_code_8;

namespace engine::model {

// One Split step of tokenizer.json, behaviour "Isolated": each match is a piece, and so is each
// stretch between matches.
struct SplitRule {
  std::string pattern;
  bool regex = true;  // else the pattern is literal text
};

// Const after construction; any thread may call it.
class Splitter {
 public:
  // Throws ModelError if the pattern does not compile; `place` is where it stands in `file`.
  Splitter(const SplitRule& rule, const std::filesystem::path& file, std::string_view place);

  // Appends the pieces of `text`; together they are `text`.
  // REQUIRES: valid UTF-8. Throws ModelError if the match limit, which grows with the text, is
  // exceeded.
  void split(std::string_view text, std::vector<std::string_view>& pieces) const;

 private:
  struct FreeCode {
    void operator()(pcre2_real_code_8* code) const;
  };

  std::filesystem::path file_;
  std::string place_;
  std::unique_ptr<pcre2_real_code_8, FreeCode> code_;
};

}  // namespace engine::model
