#include "model/added_tokens.h"

#include "model/utf8.h"

namespace engine::model {
namespace {

// Begin of the last character of [floor, end); bytes that are no UTF-8 count one by one.
std::size_t last_character(std::string_view text, std::size_t floor, std::size_t end) {
  std::size_t begin = end - 1;
  while (begin > floor && end - begin < 4 &&
         (static_cast<unsigned char>(text[begin]) & 0xC0U) == 0x80)
    --begin;
  const Utf8Step step = utf8_step(text.substr(begin, end - begin));
  return step.kind == Utf8::kCharacter && begin + step.length == end ? begin : end - 1;
}

bool is_kind(std::string_view character, Pattern::Kind kind) {
  return utf8_step(character).kind == Utf8::kCharacter && kind(code_point(character));
}

bool stands_alone(std::string_view text, Range match) {
  if (match.begin > 0) {
    const std::size_t before = last_character(text, 0, match.begin);
    if (is_kind(text.substr(before, match.begin - before), is_word)) return false;
  }
  const std::string_view rest = text.substr(match.end);
  return rest.empty() || !is_kind(rest.substr(0, utf8_step(rest).length), is_word);
}

std::size_t left_of_blanks(std::string_view text, std::size_t floor, std::size_t end) {
  while (end > floor) {
    const std::size_t begin = last_character(text, floor, end);
    if (!is_kind(text.substr(begin, end - begin), is_white_space)) break;
    end = begin;
  }
  return end;
}

std::size_t right_of_blanks(std::string_view text, std::size_t at) {
  while (at < text.size()) {
    const std::size_t length = utf8_step(text.substr(at)).length;
    if (!is_kind(text.substr(at, length), is_white_space)) break;
    at += length;
  }
  return at;
}

std::vector<std::string> searched_texts(const std::vector<AddedToken>& tokens,
                                        const Normalizer& normalizer) {
  std::vector<std::string> texts;
  for (const AddedToken& token : tokens)
    texts.push_back(token.normalized ? normalizer.apply(token.content) : token.content);
  return texts;
}

}  // namespace

bool touches(Range part, std::span<const TextRange>& ranges) {
  while (!ranges.empty() && ranges.front().end <= part.begin)
    ranges = ranges.subspan(1);
  return !ranges.empty() && ranges.front().begin < part.end;
}

bool AddedToken::is_mark() const {
  return special || (content.starts_with('<') && content.ends_with('>')) ||
         (content.starts_with('[') && content.ends_with(']'));
}

AddedTokens::AddedTokens(std::vector<AddedToken> tokens, const Normalizer& normalizer)
    : tokens_(std::move(tokens)),
      texts_(searched_texts(tokens_, normalizer)),
      as_written_(table(Which::kAsWritten)),
      normalized_(table(Which::kNormalized)) {
  for (std::size_t i = 0; i < tokens_.size(); ++i) {
    const auto token = static_cast<std::size_t>(tokens_[i].token);
    if (by_token_.size() <= token) by_token_.resize(token + 1, tokens_.size());
    by_token_[token] = i;
  }
}

// Of tokens that normalise to one text the first is found.
PrefixTable AddedTokens::table(Which which) const {
  std::vector<PrefixTable::Entry> entries;
  for (std::size_t i = 0; i < tokens_.size(); ++i) {
    if (tokens_[i].normalized == (which == Which::kNormalized) && !texts_[i].empty())
      entries.push_back({texts_[i], static_cast<Token>(i)});
  }
  std::ranges::stable_sort(entries, {}, &PrefixTable::Entry::text);
  const auto repeated = std::ranges::unique(entries, {}, &PrefixTable::Entry::text);
  entries.erase(repeated.begin(), repeated.end());
  return PrefixTable(std::move(entries));
}

std::size_t AddedTokens::longest(std::string_view text, Which which,
                                 const AddedToken*& found) const {
  std::size_t length = 0;
  const PrefixTable& table = which == Which::kAsWritten ? as_written_ : normalized_;
  table.for_each_prefix(text, [&](const PrefixTable::Entry& entry) {
    length = entry.text.size();
    found = &tokens_[static_cast<std::size_t>(entry.token)];
  });
  return length;
}

std::vector<AddedTokens::Part> AddedTokens::split(std::string_view text, Which which,
                                                  std::span<const TextRange> literal) const {
  std::vector<Part> parts;
  std::size_t done = 0;
  for (std::size_t at = 0; at < text.size();) {
    const AddedToken* token = nullptr;
    const std::size_t length = longest(text.substr(at), which, token);
    Range match{at, at + length};
    at += std::max<std::size_t>(length, 1);
    if (token == nullptr || (token->is_mark() && touches(match, literal))) continue;
    if (token->single_word && !stands_alone(text, match)) continue;
    if (token->left_strip)
      match.begin = left_of_blanks(text, std::min(done, match.begin), match.begin);
    if (token->right_strip) match.end = right_of_blanks(text, match.end);
    if (done < match.begin) parts.push_back({{done, match.begin}, std::nullopt});
    parts.push_back({match, token->token});
    done = match.end;
  }
  if (done < text.size()) parts.push_back({{done, text.size()}, std::nullopt});
  return parts;
}

const AddedToken* AddedTokens::find(Token token) const {
  if (token < 0 || static_cast<std::size_t>(token) >= by_token_.size()) return nullptr;
  const std::size_t index = by_token_[static_cast<std::size_t>(token)];
  return index < tokens_.size() ? &tokens_[index] : nullptr;
}

}  // namespace engine::model
