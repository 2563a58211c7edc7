// Byte-level BPE, read from Hugging Face's tokenizer.json.
//
// Every byte string can be encoded, and decoding an encoding gives the same bytes back. A piece is
// what the pre-tokenizer cuts; merges never cross pieces. Bytes that are not UTF-8 are pieces of
// their own (a maximal run is one piece).
//
// Not here: normalisation (a tokenizer that asks for NFC refuses text with combining characters and
// others that NFC may change), the post-processor's extra tokens (the chat template writes them),
// truncation and padding.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/error.h"
#include "model/token.h"

namespace engine::model {

// What a special token's text means when it occurs in the text to be encoded.
enum class SpecialText {
  kIsText,   // ordinary characters: user content can never make a control token
  kIsToken,  // the control token: for template text that the model's author wrote
};

// Const after construction; any thread may call it. Movable.
class Tokenizer {
 public:
  // Throws ModelError with the place in the file.
  static Tokenizer load(const std::filesystem::path& tokenizer_json);
  // `file` names the text in errors.
  static Tokenizer parse(std::string_view json, const std::filesystem::path& file);

  Tokenizer(Tokenizer&&) noexcept;
  Tokenizer& operator=(Tokenizer&&) noexcept;
  ~Tokenizer();

  // O(n log n) in the text's bytes. Throws ModelError if the pre-tokenizer's regex exceeds its
  // match limit, or if the text would need a normalisation that is not built in.
  std::vector<Token> encode(std::string_view text, SpecialText special) const;

  // The token's bytes, a special token's text included; not always whole characters. An id that
  // names no token (the model's vocabulary may be padded) has no bytes. Valid while this lives.
  std::string_view decode(Token token) const;
  std::string decode(std::span<const Token> tokens) const;

  // The id of a token by its bytes, special and other added tokens included.
  std::optional<Token> find(std::string_view bytes) const;

  bool is_special(Token token) const;

  // One more than the largest id.
  std::size_t size() const;

 private:
  struct Parts;
  explicit Tokenizer(std::unique_ptr<const Parts> parts);
  std::unique_ptr<const Parts> parts_;
};

}  // namespace engine::model
