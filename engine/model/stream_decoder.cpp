#include "model/stream_decoder.h"

#include <algorithm>

#include "model/utf8.h"

namespace engine::model {
std::string StreamDecoder::push(Token token) {
  const bool shown = std::find(shown_.begin(), shown_.end(), token) != shown_.end();
  if (tokenizer_->is_special(token) && !shown) return {};
  held_ += tokenizer_->decoder().next(token, progress_);
  std::string text;
  std::string_view rest = held_;
  while (!rest.empty()) {
    const Utf8Step step = utf8_step(rest);
    if (step.kind == Utf8::kIncomplete) break;
    text += step.kind == Utf8::kCharacter ? rest.substr(0, step.length) : kReplacementCharacter;
    rest.remove_prefix(step.length);
  }
  held_.erase(0, held_.size() - rest.size());
  return text;
}

std::string StreamDecoder::finish() {
  const bool empty = held_.empty();
  held_.clear();
  return empty ? std::string() : std::string(kReplacementCharacter);
}

}  // namespace engine::model
