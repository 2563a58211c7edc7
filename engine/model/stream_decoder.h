// Turns a stream of tokens into text that can be shown at once.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "model/token_decoder.h"
#include "model/tokenizer.h"

namespace engine::model {

// What it returns is always whole, valid UTF-8: a character that is cut between tokens is held back
// until its last byte arrives, and bytes that can be no character become U+FFFD. Special tokens are
// control and give no text, but for those in `shown`. The tokenizer must outlive it.
class StreamDecoder {
 public:
  explicit StreamDecoder(const Tokenizer& tokenizer, std::vector<Token> shown = {})
      : tokenizer_(&tokenizer), shown_(std::move(shown)) {}

  // The text that this token completes; may be empty.
  std::string push(Token token);

  // What is held back, as U+FFFD. Call at the end, and where something else than text follows.
  std::string finish();

 private:
  const Tokenizer* tokenizer_;
  std::vector<Token> shown_;
  TokenDecoder::Progress progress_;
  std::string held_;  // a proper prefix of one character
};

}  // namespace engine::model
