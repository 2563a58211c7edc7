#include "model/tokenizer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <unordered_map>

#include "model/bpe.h"
#include "model/json_file.h"
#include "model/nfc.h"
#include "model/splitter.h"
#include "model/tokenizer_file.h"
#include "model/utf8.h"

namespace engine::model {
namespace {

constexpr std::size_t kMaxFileBytes = 256U << 20U;

using TokensByBytes = std::unordered_map<std::string_view, Token>;

std::array<Token, 256> byte_tokens(const TokensByBytes& vocabulary,
                                   const std::filesystem::path& file) {
  std::array<Token, 256> tokens{};
  for (unsigned byte = 0; byte < 256; ++byte) {
    const char c = static_cast<char>(byte);
    const auto found = vocabulary.find(std::string_view(&c, 1));
    if (found == vocabulary.end()) {
      throw ModelError(file, fmt::format("model.vocab: no token for byte 0x{:02x}", byte));
    }
    tokens[byte] = found->second;
  }
  return tokens;
}

}  // namespace

// Views in the maps are of strings in the vectors, which never change.
struct Tokenizer::Parts {
  std::filesystem::path file;
  TokenizerFile content;
  TokensByBytes vocabulary;
  TokensByBytes added;
  std::vector<const AddedToken*> by_token;                          // null: not an added token
  std::array<std::vector<const AddedToken*>, 256> by_first_byte{};  // longest first
  std::vector<Splitter> splitters;
  Bpe bpe;

  static std::unique_ptr<const Parts> make(std::string_view json,
                                           const std::filesystem::path& file);

  // The added token that `text` begins with, or null.
  const AddedToken* match_added(std::string_view text, SpecialText special) const;

  // Text without added tokens.
  void encode_plain(std::string_view text, std::vector<Token>& out) const;

 private:
  Parts(TokenizerFile parsed, TokensByBytes ids, const std::filesystem::path& path)
      : file(path),
        content(std::move(parsed)),
        vocabulary(std::move(ids)),
        bpe(byte_tokens(vocabulary, file)) {}

  void add_merges();
  void add_added_tokens();
  std::vector<std::string_view> pieces(std::string_view text) const;
};

std::unique_ptr<const Tokenizer::Parts> Tokenizer::Parts::make(std::string_view json,
                                                               const std::filesystem::path& file) {
  TokenizerFile parsed = TokenizerFile::parse(json, file);
  TokensByBytes ids;
  for (std::size_t i = 0; i < parsed.vocabulary.size(); ++i) {
    const std::string& bytes = parsed.vocabulary[i];
    if (!bytes.empty()) ids.emplace(bytes, static_cast<Token>(i));
  }
  // Moving a vector keeps its strings where they are.
  std::unique_ptr<Parts> parts(new Parts(std::move(parsed), std::move(ids), file));
  parts->add_merges();
  parts->add_added_tokens();
  const std::vector<SplitRule>& splits = parts->content.splits;
  for (std::size_t i = 0; i < splits.size(); ++i) {
    parts->splitters.emplace_back(splits[i], file, fmt::format("pre_tokenizer, split {}", i));
  }
  return parts;
}

void Tokenizer::Parts::add_merges() {
  for (std::size_t i = 0; i < content.merges.size(); ++i) {
    const MergeRule& merge = content.merges[i];
    if (!bpe.add_merge(merge.left, merge.right, merge.result)) {
      throw ModelError(file, fmt::format("model.merges[{}]: this pair has a merge already", i));
    }
  }
}

void Tokenizer::Parts::add_added_tokens() {
  by_token.resize(content.vocabulary.size());
  for (const AddedToken& token : content.added) {
    added.emplace(token.content, token.token);
    by_token[static_cast<std::size_t>(token.token)] = &token;
    by_first_byte[static_cast<unsigned char>(token.content[0])].push_back(&token);
  }
  for (auto& tokens : by_first_byte) {
    std::ranges::stable_sort(tokens, std::ranges::greater{},
                             [](const AddedToken* token) { return token->content.size(); });
  }
}

const AddedToken* Tokenizer::Parts::match_added(std::string_view text, SpecialText special) const {
  for (const AddedToken* token : by_first_byte[static_cast<unsigned char>(text[0])]) {
    if (token->special && special == SpecialText::kIsText) continue;
    if (text.starts_with(token->content)) return token;
  }
  return nullptr;
}

// Each splitter cuts the pieces of the one before; only stretches of whole characters are cut.
std::vector<std::string_view> Tokenizer::Parts::pieces(std::string_view text) const {
  std::vector<std::string_view> result;
  for (bool valid = true; !text.empty(); valid = !valid) {
    const std::size_t length = utf8_stretch(text, valid);
    std::vector<std::string_view> stretch;
    if (length > 0) stretch.push_back(text.substr(0, length));
    for (const Splitter& splitter : splitters) {
      if (!valid) break;
      std::vector<std::string_view> cut;
      for (const std::string_view piece : stretch)
        splitter.split(piece, cut);
      stretch = std::move(cut);
    }
    result.insert(result.end(), stretch.begin(), stretch.end());
    text.remove_prefix(length);
  }
  return result;
}

void Tokenizer::Parts::encode_plain(std::string_view text, std::vector<Token>& out) const {
  if (content.nfc && !is_surely_nfc(text)) {
    throw ModelError(
        file,
        "normalizer: the text has combining characters, or others that NFC may change; "
        "normalisation is not built in");
  }
  Bpe::Scratch scratch;
  for (const std::string_view piece : pieces(text)) {
    const auto whole = content.ignore_merges ? vocabulary.find(piece) : vocabulary.end();
    if (whole != vocabulary.end()) {
      out.push_back(whole->second);
    } else {
      bpe.encode(piece, scratch, out);
    }
  }
}

Tokenizer::Tokenizer(std::unique_ptr<const Parts> parts) : parts_(std::move(parts)) {}
Tokenizer::Tokenizer(Tokenizer&&) noexcept = default;
Tokenizer& Tokenizer::operator=(Tokenizer&&) noexcept = default;
Tokenizer::~Tokenizer() = default;

Tokenizer Tokenizer::load(const std::filesystem::path& tokenizer_json) {
  return parse(read_file(tokenizer_json, kMaxFileBytes), tokenizer_json);
}

Tokenizer Tokenizer::parse(std::string_view json, const std::filesystem::path& file) {
  return Tokenizer(Parts::make(json, file));
}

std::vector<Token> Tokenizer::encode(std::string_view text, SpecialText special) const {
  std::vector<Token> tokens;
  std::size_t plain = 0;  // text up to here is encoded
  std::size_t at = 0;
  while (at < text.size()) {
    const AddedToken* const added = parts_->match_added(text.substr(at), special);
    if (added == nullptr) {
      ++at;
      continue;
    }
    parts_->encode_plain(text.substr(plain, at - plain), tokens);
    tokens.push_back(added->token);
    plain = at += added->content.size();
  }
  parts_->encode_plain(text.substr(plain), tokens);
  return tokens;
}

std::string_view Tokenizer::decode(Token token) const {
  const auto index = static_cast<std::size_t>(token);
  if (token < 0 || index >= size()) return {};
  const AddedToken* const added = parts_->by_token[index];
  return added != nullptr ? added->content : parts_->content.vocabulary[index];
}

std::string Tokenizer::decode(std::span<const Token> tokens) const {
  std::string text;
  for (const Token token : tokens)
    text += decode(token);
  return text;
}

std::optional<Token> Tokenizer::find(std::string_view bytes) const {
  for (const TokensByBytes* tokens : {&parts_->added, &parts_->vocabulary}) {
    const auto found = tokens->find(bytes);
    if (found != tokens->end()) return found->second;
  }
  return std::nullopt;
}

bool Tokenizer::is_special(Token token) const {
  const auto index = static_cast<std::size_t>(token);
  const AddedToken* const added = token < 0 || index >= size() ? nullptr : parts_->by_token[index];
  return added != nullptr && added->special;
}

std::size_t Tokenizer::size() const {
  return parts_->content.vocabulary.size();
}

}  // namespace engine::model
