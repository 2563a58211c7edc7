#include "patcher/carry/lost_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "patcher/carry/enclosing_definition.h"
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

std::set<std::string_view> names_in(const Source& source) {
  std::set<std::string_view> out;
  for (const Token& t : source.tokens()) {
    if (!t.comment) out.insert(t.text(source.bytes()));
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

// `int x`, `T *x`, `A<T> &x`: what declares a name and does not use it.
bool follows_type(const Source& source, size_t i) {
  const auto& tokens = source.tokens();
  const auto text = [&](size_t t) { return tokens[t].text(source.bytes()); };
  while (i > 0 && (text(i - 1) == "*" || text(i - 1) == "&"))
    --i;
  return i > 0 && (is_name(text(i - 1)) || is_declaring(text(i - 1)) || text(i - 1) == ">");
}

// The one function of the file that is `scope`; null where it is not there once.
const Scope* only_function(const Source& source, const Scope& scope) {
  const auto found = same_definitions(source.scopes(), scope, true);
  return found.size() == 1 && found[0]->kind == Scope::Kind::kFunction ? found[0] : nullptr;
}

// Calls use(i) for each token of a function, but comments.
template <typename Use>
void tokens_of(const Source& source, const Scope& function, Use use) {
  const auto& tokens = source.tokens();
  for (const uint32_t i : source.code()) {
    if (function.begin <= tokens[i].begin && tokens[i].begin < function.end) use(i);
  }
}

std::set<std::string_view> names_of(const Source& source, const Scope& function) {
  std::set<std::string_view> out;
  tokens_of(source, function,
            [&](size_t i) { out.insert(source.tokens()[i].text(source.bytes())); });
  return out;
}

// What a function declares for certain: `T x`, `T *x` at a statement's begin or among its
// parameters.
std::set<std::string_view> variables_of(const Source& source, const Scope& function) {
  static const std::set<std::string_view> kEnds = {"=", ";", ",", ")", "[", "{", ":"};
  static const std::set<std::string_view> kBegins = {";", "{", "}"};
  const auto text = [&](size_t i) { return source.tokens()[i].text(source.bytes()); };
  std::set<std::string_view> out;
  bool in_body = false;
  tokens_of(source, function, [&](size_t i) {
    in_body = in_body || text(i) == "{";
    const bool ends = i + 1 < source.tokens().size() && kEnds.contains(text(i + 1));
    if (!ends || !is_name(text(i)) || !follows_type(source, i)) return;
    size_t type = i - 1;
    while (type > 0 && (text(type) == "*" || text(type) == "&"))
      --type;
    const std::string_view before = type > 0 ? text(type - 1) : ";";
    const bool begins =
        kBegins.contains(before) || is_declaring(before) || is_declaring(text(type));
    if (in_body ? begins : begins || before == "(" || before == ",") out.insert(text(i));
  });
  return out;
}

// Calls use(i) for each token of the lines that `after` adds, but comments.
template <typename Use>
void added_tokens(const Source& base, const Source& after, Use use) {
  const auto& tokens = after.tokens();
  for (const ChangeBlock& block : change_blocks(base.bytes(), after.bytes())) {
    if (block.deletes()) continue;
    const uint32_t begin = after.lines().begin(block.after_begin);
    const uint32_t end = after.lines().end(block.after_end - 1);
    auto token = std::partition_point(tokens.begin(), tokens.end(),
                                      [&](const Token& t) { return t.begin < begin; });
    for (; token != tokens.end() && token->begin < end; ++token) {
      if (!token->comment) use(static_cast<size_t>(token - tokens.begin()));
    }
  }
}

// Variables of a function that lines added to it use, and that the target's function has not.
std::vector<LostName> lost_variables(const Source& base, const Source& after,
                                     const Source& target) {
  std::vector<LostName> out;
  std::map<const Scope*, std::set<std::string_view>> lost;  // of the functions of `after`
  for (const Scope& scope : after.scopes()) {
    if (scope.kind != Scope::Kind::kFunction) continue;
    const Scope* was = only_function(base, scope);
    const Scope* is = only_function(target, scope);
    if (was == nullptr || is == nullptr) continue;
    std::set<std::string_view>& names = lost[&scope];
    names = variables_of(base, *was);
    for (const std::string_view name : names_of(target, *is))
      names.erase(name);
  }
  std::set<std::string_view> declared;
  added_tokens(base, after, [&](size_t i) {
    const std::string_view name = after.tokens()[i].text(after.bytes());
    if (follows_type(after, i)) declared.insert(name);
    const std::string_view before = i > 0 ? after.tokens()[i - 1].text(after.bytes()) : "";
    if (before == "." || before == "->" || declared.contains(name)) return;
    for (const auto& [scope, names] : lost) {
      const uint32_t byte = after.tokens()[i].begin;
      if (byte < scope->begin || byte >= scope->end || !names.contains(name)) continue;
      declared.insert(name);
      out.push_back({.name = std::string(name), .byte = byte, .local = true});
    }
  });
  return out;
}

}  // namespace

std::string message(const LostName& lost) {
  if (lost.local) {
    return fmt::format("lost_name: an added line uses `{}`, which the function has no more",
                       lost.name);
  }
  return lost.changed
             ? fmt::format("lost_name: `{}` takes other parameters now than where it was called",
                           lost.name)
             : fmt::format("lost_name: an added line uses `{}`, which is there no more", lost.name);
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
      out.push_back({std::string(name), t.begin, false});
    } else if (call && there != in_target.end() && !defined->second.empty() &&
               !there->second.empty() &&
               std::none_of(defined->second.begin(), defined->second.end(),
                            [&](const auto& p) { return there->second.contains(p); })) {
      out.push_back({std::string(name), t.begin, true});
    }
  });
  for (LostName& lost : lost_variables(base, after, target))
    out.push_back(std::move(lost));
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
    out.push_back({std::string(name), after.tokens()[token].begin, true});
  });
  return out;
}

std::vector<LostName> missing_names(const Source& base, const Source& after, const Source& target) {
  if (base.language() == Language::kLines) return {};
  const auto known = names_in(base);
  const auto there = names_in(target);
  std::vector<LostName> out;
  std::set<std::string_view> seen;
  added_tokens(base, after, [&](size_t i) {
    const std::string_view name = after.tokens()[i].text(after.bytes());
    if (!is_name(name) || !known.contains(name) || there.contains(name)) return;
    if (!seen.insert(name).second || follows_type(after, i)) return;
    out.push_back({std::string(name), after.tokens()[i].begin});
  });
  return out;
}

}  // namespace patcher
