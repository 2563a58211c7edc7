#include "patcher/carry/lost_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "patcher/carry/enclosing_definition.h"
#include "patcher/carry/name_uses.h"
#include "patcher/syntax/code_words.h"
#include "patcher/text/change_blocks.h"

namespace patcher {
namespace {

// Every definition: its parameters, or nothing for a type or a macro.
using Definitions = std::map<std::string, std::set<std::vector<std::string>>>;

Definitions definitions(const Source& source) {
  Definitions out;
  for (const Scope& scope : source.scopes()) {
    if (scope.kind != Scope::Kind::kNamespace) out[scope.name.back()].insert(plain_params(scope));
  }
  const auto& tokens = source.tokens();
  for (size_t i = 0; i + 2 < tokens.size(); ++i) {
    const auto text = [&](size_t t) { return tokens[t].text(source.bytes()); };
    if (tokens[i].directive && text(i) == "#" && text(i + 1) == "define") {
      out[std::string(text(i + 2))];
    }
  }
  return out;
}

// With how many arguments each name is called, or how many parameters it is declared with.
using Arities = std::map<std::string_view, std::set<size_t>>;

// Of the call whose `(` is at i, by the words; nothing if it does not end.
std::optional<size_t> arity(const CodeWords& words, size_t i) {
  const size_t last = words.close(i);
  if (last == words.size()) return std::nullopt;
  size_t commas = 0;
  for (size_t k = i + 1; k < last; ++k) {
    const std::string_view t = words.word(k);
    if (t == "(" || t == "{" || t == "[") {
      k = words.close(k);
      if (k >= last) return std::nullopt;
    }
    commas += t == "," ? 1 : 0;
  }
  return last == i + 1 ? 0 : commas + 1;
}

Arities arities(const Source& source) {
  const CodeWords words(source.bytes(), source.tokens());
  Arities out;
  for (size_t i = 0; i + 1 < words.size(); ++i) {
    if (!is_name(words.word(i)) || words.word(i + 1) != "(") continue;
    if (const auto n = arity(words, i + 1)) out[words.word(i)].insert(*n);
  }
  return out;
}

}  // namespace

std::string message(const LostName& lost) {
  switch (lost.kind) {
    case LostName::Kind::kGone:
      break;
    case LostName::Kind::kOtherShape:
      return fmt::format("lost_name: `{}` takes other parameters now than where it was called",
                         lost.name);
    case LostName::Kind::kLocal:
      return fmt::format(
          "lost_name: an added line uses `{}`, which the function does not have there", lost.name);
    case LostName::Kind::kStillUsed:
      return fmt::format("still_used: the patch removes `{}`, which is still used here", lost.name);
    case LostName::Kind::kBeforeRemoved:
      return fmt::format(
          "lost_name: the patch removes a call behind one of `{}`, which is there no more; the "
          "call may "
          "be needed without it",
          lost.name);
  }
  return fmt::format("lost_name: an added line uses `{}`, which is there no more", lost.name);
}

std::vector<LostName> lost_names(const Source& base, const Source& after, const Source& target) {
  if (base.language() == Language::kLines) return {};
  const Definitions in_base = definitions(base);
  const Definitions in_after = definitions(after);
  const Definitions in_target = definitions(target);
  const auto used = names_in(target);
  std::vector<LostName> out;
  std::set<std::string_view> seen;
  const auto& tokens = after.tokens();
  added_tokens(base, after, [&](size_t i) {
    const Token& t = tokens[i];
    const std::string_view name = t.text(after.bytes());
    const auto defined = in_base.find(std::string(name));
    if (defined == in_base.end() || !seen.insert(name).second) return;
    const auto mine = in_after.find(std::string(name));
    if (mine == in_after.end() || mine->second != defined->second) return;  // its own change
    const auto there = in_target.find(std::string(name));
    const bool call = i + 1 < tokens.size() && tokens[i + 1].text(after.bytes()) == "(";
    if (!used.contains(name)) {
      out.push_back({LostName::Kind::kGone, std::string(name), t.begin});
    } else if (call && there != in_target.end() && !defined->second.empty() &&
               !there->second.empty() &&
               std::none_of(defined->second.begin(), defined->second.end(),
                            [&](const auto& p) { return there->second.contains(p); })) {
      out.push_back({LostName::Kind::kOtherShape, std::string(name), t.begin});
    }
  });
  return out;
}

std::vector<LostName> changed_calls(const Source& base, const Source& after, const Source& target) {
  if (base.language() == Language::kLines) return {};
  const Arities before = arities(base);
  const Arities there = arities(target);
  const CodeWords words(after.bytes(), after.tokens());
  std::map<uint32_t, size_t> number;  // of each token among the words
  for (size_t i = 0; i < words.size(); ++i)
    number[words.index(i)] = i;
  const auto only = [](const Arities& all, std::string_view name) -> std::optional<size_t> {
    const auto found = all.find(name);
    if (found == all.end() || found->second.size() != 1) return std::nullopt;
    return *found->second.begin();
  };
  std::vector<LostName> out;
  std::set<std::string_view> seen;
  added_tokens(base, after, [&](size_t token) {
    const auto word = number.find(static_cast<uint32_t>(token));
    if (word == number.end() || words.word(word->second + 1) != "(") return;
    const std::string_view name = words.word(word->second);
    const auto was = only(before, name);
    const auto is = only(there, name);
    if (!is_name(name) || !was || !is || *was == *is) return;
    if (arity(words, word->second + 1) != was || !seen.insert(name).second) return;
    out.push_back({LostName::Kind::kOtherShape, std::string(name), after.tokens()[token].begin});
  });
  return out;
}

std::vector<LostName> still_used_names(const ChangedFile& file) {
  if (file.base.language() == Language::kLines) return {};
  const Definitions in_target = definitions(file.target);
  const Definitions in_result = definitions(file.result);
  const auto in_after = names_in(file.after);
  std::vector<LostName> out;
  for (const auto& [name, params] : definitions(file.base)) {
    if (in_after.contains(name) || !in_target.contains(name) || in_result.contains(name)) continue;
    const auto& tokens = file.result.tokens();
    for (size_t i = 0; i < tokens.size(); ++i) {
      if (tokens[i].comment || tokens[i].text(file.result.bytes()) != name) continue;
      if (is_member(file.result, i) || follows_type(file.result, i)) continue;
      out.push_back({LostName::Kind::kStillUsed, name, tokens[i].begin});
      break;
    }
  }
  return out;
}

MissingNames missing_names(const Source& base, const Source& after, const Source& target) {
  if (base.language() == Language::kLines) return {};
  const auto known = names_in(base);
  const auto there = names_in(target);
  MissingNames out;
  std::set<std::string_view> seen;
  added_tokens(base, after, [&](size_t i) {
    const std::string_view name = after.tokens()[i].text(after.bytes());
    if (!is_name(name) || there.contains(name)) return;
    if (!seen.insert(name).second || follows_type(after, i)) return;
    auto& part = known.contains(name) ? out.known : out.unknown;
    part.push_back({LostName::Kind::kGone, std::string(name), after.tokens()[i].begin});
  });
  return out;
}

}  // namespace patcher
