#include "model/bpe_model.h"

#include <fmt/format.h>

#include <algorithm>

#include "model/byte_alphabet.h"
#include "model/utf8.h"

namespace engine::model {
namespace {

void require_empty(const JsonNode& node, std::string_view key) {
  const auto text = node.find(key);
  if (text && !text->string().empty()) text->fail_expected("null: not supported");
}

// "left right", or ["left", "right"].
std::pair<std::string, std::string> read_pair(const JsonNode& node) {
  if (node.value().is_array()) {
    if (node.value().size() != 2) node.fail_expected("two tokens");
    return {node.element(0).string(), node.element(1).string()};
  }
  const std::string text = node.string();
  const std::size_t space = text.find(' ');
  if (space == std::string::npos || text.find(' ', space + 1) != std::string::npos) {
    node.fail_expected("two tokens with one space between");
  }
  return {text.substr(0, space), text.substr(space + 1)};
}

}  // namespace

BpeModel::BpeModel(const JsonNode& node, const TokenizerFile& file, bool byte_level)
    : byte_level_(byte_level),
      ignore_merges_(node.flag("ignore_merges")),
      fuse_unknown_(node.flag("fuse_unk")) {
  require_empty(node, "continuing_subword_prefix");
  require_empty(node, "end_of_word_suffix");
  if (const auto dropout = node.find("dropout"); dropout && dropout->number() != 0) {
    dropout->fail_expected("null: not supported");
  }
  if (const auto unknown = node.find("unk_token"))
    unknown_ = file.id_of(unknown->string(), *unknown);
  add_pieces(node.at("vocab"), file);
  if (node.flag("byte_fallback")) {
    if (byte_level) node.at("byte_fallback").fail_expected("false, since the tokens are bytes");
    for (unsigned byte = 0; byte < 256; ++byte) {
      const auto found = file.ids.find(fmt::format("<0x{:02X}>", byte));
      if (found != file.ids.end()) fallback_[byte] = found->second;
    }
  }
  add_merges(node.at("merges"), file);
}

// Added tokens may stand in the vocabulary; special ones never come of text.
void BpeModel::add_pieces(const JsonNode& vocabulary, const TokenizerFile& file) {
  texts_.resize(file.size());
  for (const auto& [text, token] : file.ids) {
    if (file.is_special(token)) continue;
    std::string& own = texts_[static_cast<std::size_t>(token)];
    own = byte_level_ ? from_alphabet(text).value_or("") : text;
    if (own.empty()) continue;
    if (!pieces_.emplace(own, token).second)
      vocabulary.at(text).fail("a second token of these bytes");
    if (own.size() == 1) byte_pieces_[static_cast<unsigned char>(own[0])] = token;
  }
}

void BpeModel::add_merges(const JsonNode& list, const TokenizerFile& file) {
  const std::size_t count = list.require_array();
  bpe_.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    const JsonNode entry = list.element(i);
    if (entry.value().is_string() &&
        entry.value().get_ref<const std::string&>().starts_with("#version"))
      continue;
    const auto [left, right] = read_pair(entry);
    const Token first = file.id_of(left, entry), second = file.id_of(right, entry);
    const Token result = file.id_of(left + right, entry);
    if (file.is_special(result)) continue;
    if (!bpe_.add_merge(first, second, result)) entry.fail("this pair has a merge already");
  }
}

std::optional<Token> BpeModel::find(std::string_view piece) const {
  if (piece.size() == 1) return byte_pieces_[static_cast<unsigned char>(piece[0])];
  const auto found = pieces_.find(piece);
  if (found == pieces_.end()) return std::nullopt;
  return found->second;
}

bool BpeModel::fall_back(std::string_view character, std::vector<Token>& out) const {
  const auto token_of = [this](char c) { return fallback_[static_cast<unsigned char>(c)]; };
  if (!std::ranges::all_of(character, [&](char c) { return token_of(c).has_value(); }))
    return false;
  for (const char c : character)
    out.push_back(*token_of(c));
  return true;
}

// An unknown token is put down where the next character that has one of its own begins: so behind
// bytes that stand between, as Hugging Face's library does.
void BpeModel::take_apart(std::string_view piece, std::vector<Token>& out) const {
  bool pending = false;
  while (!piece.empty()) {
    const std::size_t length = byte_level_ ? 1 : utf8_step(piece).length;
    const std::string_view character = piece.substr(0, length);
    piece.remove_prefix(length);
    if (const auto token = find(character)) {
      if (pending) out.push_back(*unknown_);
      pending = false;
      out.push_back(*token);
    } else if (!fall_back(character, out) && unknown_) {
      if (pending && !fuse_unknown_) out.push_back(*unknown_);
      pending = true;
    }
  }
  if (pending) out.push_back(*unknown_);
}

void BpeModel::encode(std::string_view piece, Scratch& scratch, std::vector<Token>& out) const {
  const std::optional<Token> whole = ignore_merges_ ? find(piece) : std::nullopt;
  if (whole) {
    out.push_back(*whole);
    return;
  }
  scratch.piece.clear();
  take_apart(piece, scratch.piece);
  bpe_.merge(scratch.piece, scratch.merging, out);
}

bool BpeModel::takes_any_bytes() const {
  const auto& tokens = byte_level_ ? byte_pieces_ : fallback_;
  return std::ranges::all_of(tokens, [](const auto& token) { return token.has_value(); });
}

}  // namespace engine::model
