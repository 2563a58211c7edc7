// A tokenizer, read from Hugging Face's tokenizer.json: the ids that their `tokenizers` library
// gives, for BPE of bytes (GPT-2, Llama 3, Qwen) and of characters (SentencePiece's: Llama 2,
// Gemma).
//
// A text goes through the file's parts in their order, each in a file of its name here:
// added_tokens, normalizer, pre_tokenizer, bpe_model, and for whole prompts post_processor; back
// goes token_decoder. What a file asks for and is not known is an error that names it.
//
// Bytes that are not UTF-8, which that library does not take, are pieces of their own; they become
// U+FFFD where the vocabulary has no tokens for bytes. Truncation and padding are ignored.
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

// What a mark's text means when it occurs in the text to be encoded. Marks are special tokens, and
// other added tokens in angle or square brackets, which models use alike ("<tool_call>").
enum class SpecialText {
  kIsText,   // ordinary characters: user content can never make a control token
  kIsToken,  // the control token: for template text that the model's author wrote
};

// Bytes [begin, end) of a text.
struct TextRange {
  std::size_t begin = 0, end = 0;
};

class TokenDecoder;

// Const after construction; any thread may call it. Movable.
class Tokenizer {
 public:
  // If a tokenizer_config.json lies beside the file, its add_bos_token and add_eos_token count.
  // Throws ModelError with the place in the file.
  static Tokenizer load(const std::filesystem::path& tokenizer_json);
  // `file` names the text in errors.
  static Tokenizer parse(std::string_view json, const std::filesystem::path& file);

  Tokenizer(Tokenizer&&) noexcept;
  Tokenizer& operator=(Tokenizer&&) noexcept;
  ~Tokenizer();

  // O(n log n) in the text's bytes. Throws ModelError if a regex of the file exceeds its match
  // limit.
  std::vector<Token> encode(std::string_view text, SpecialText special) const;

  // As with kIsToken, but a mark that touches a range of `literal`, which are in order and
  // disjoint, is ordinary text. REQUIRES: UTF-8.
  std::vector<Token> encode(std::string_view text, std::span<const TextRange> literal) const;

  // The texts that content must not turn into tokens.
  std::vector<std::string> marks() const;

  // The text as a whole prompt: special tokens are found in it, and those that begin or end a
  // sequence stand around it where the file says so.
  std::vector<Token> encode_prompt(std::string_view text) const;

  // The token's bytes amid a text, a special token's text included; not always whole characters. An
  // id that names no token (the model's vocabulary may be padded) has no bytes. Valid while this
  // lives.
  std::string_view decode(Token token) const;
  // The bytes of a whole text. What comes first may lose the blank that encoding put there.
  std::string decode(std::span<const Token> tokens) const;
  const TokenDecoder& decoder() const;

  // The id of a token by its bytes, special and other added tokens included. Linear in size().
  std::optional<Token> find(std::string_view bytes) const;

  bool is_special(Token token) const;

  // One more than the largest id.
  std::size_t size() const;

 private:
  struct Parts;
  explicit Tokenizer(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace engine::model
