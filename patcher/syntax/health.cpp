#include "patcher/syntax/health.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "patcher/syntax/code_words.h"
#include "patcher/syntax/grammar_gap.h"

namespace patcher {
namespace {

Damage as_damage(TSNode node) {
  const bool missing = ts_node_is_missing(node);
  return {.begin = ts_node_start_byte(node),
          .end = ts_node_end_byte(node),
          .missing = missing,
          .what = missing ? ts_node_type(node) : "ERROR"};
}

// The first child that is damaged or holds damage, other than a body.
std::optional<Damage> damaged_child(TSNode node) {
  for (uint32_t i = 0; i < ts_node_child_count(node); ++i) {
    const TSNode child = ts_node_child(node, i);
    if (is_damaged(child)) return as_damage(child);
    if (type_of(child) == "field_initializer_list" && holds_damage(child)) {
      return damaged_child(child);
    }
  }
  return std::nullopt;
}

bool is_declaration_level(TSNode node) {
  const std::string_view type = type_of(node);
  return type == "function_definition" || type == "translation_unit" ||
         type == "declaration_list" || type == "field_declaration_list" ||
         type == "class_specifier" || type == "struct_specifier";
}

std::optional<Damage> missing_child(TSNode node) {
  for (uint32_t i = 0; i < ts_node_child_count(node); ++i) {
    const TSNode child = ts_node_child(node, i);
    if (ts_node_is_missing(child) && is_damaged(child)) return as_damage(child);
  }
  return std::nullopt;
}

bool is_control_keyword(std::string_view word) {
  constexpr std::string_view kWords[] = {"else", "if",     "for",   "while",    "do",      "switch",
                                         "case", "return", "break", "continue", "default", "goto"};
  return std::find(std::begin(kWords), std::end(kWords), word) != std::end(kWords);
}

// A keyword that the grammar took for a name: an `else` behind an #ifdef reads as a declaration of
// type `else`, with no flag at all.
std::optional<Damage> misread_at(const Source& source, TSNode leaf) {
  const uint32_t begin = ts_node_start_byte(leaf);
  const uint32_t end = ts_node_end_byte(leaf);
  const std::string_view text = std::string_view(source.bytes()).substr(begin, end - begin);
  if (!type_of(leaf).ends_with("identifier") || !is_control_keyword(text)) return std::nullopt;
  return Damage{.begin = begin, .end = end, .what = "ERROR"};
}

TSNode first_leaf(TSNode node) {
  while (ts_node_child_count(node) > 0)
    node = ts_node_child(node, 0);
  return node;
}

std::optional<Damage> misread_keyword(const Source& source, const std::vector<TSNode>& chain,
                                      uint32_t begin, uint32_t end) {
  const CodeRange range = code_range(source, begin, end);
  for (uint32_t i = range.first; i < range.second; ++i) {
    const Token& token = source.tokens()[source.code()[i]];
    if (!is_control_keyword(token.text(source.bytes()))) continue;
    const TSNode leaf =
        ts_node_descendant_for_byte_range(source.tree()->root(), token.begin, token.end);
    if (auto found = misread_at(source, leaf)) return found;
  }
  for (auto it = chain.rbegin(); it != chain.rend() && type_of(*it) != "compound_statement"; ++it) {
    if (auto found = misread_at(source, first_leaf(*it))) return found;
  }
  return std::nullopt;
}

// Damage that is not around the place but makes what is around it doubtful.
std::optional<Damage> damage_beside(const std::vector<TSNode>& chain) {
  for (const TSNode& node : chain) {
    const std::string_view type = type_of(node);
    if (type == "function_definition" && head_is_damaged(node)) return damaged_child(node);
    const bool members = type == "declaration_list" || type == "field_declaration_list";
    if (type.ends_with("_list") && !members) {
      if (auto found = damaged_child(node)) return found;
    }
  }
  for (auto it = chain.rbegin(); it != chain.rend() && !is_declaration_level(*it); ++it) {
    if (auto found = missing_child(*it)) return found;
  }
  return std::nullopt;
}

bool was_damaged(const Source& before, uint32_t begin, uint32_t end) {
  return std::any_of(before.damage().begin(), before.damage().end(), [&](const Damage& d) {
    return d.begin <= begin && end <= std::max(d.end, d.begin + 1);
  });
}

// Whether a code token is an argument of a call, which may be a macro's and no expression.
bool is_argument(const Source& source, uint32_t code) {
  const auto word = [&](uint32_t i) {
    return source.tokens()[source.code()[i]].text(source.bytes());
  };
  int open = 0;
  while (code-- > 1) {
    const std::string_view t = word(code);
    if (t == ";" || t == "{" || t == "}") return false;
    if (t == ")") --open;
    if (t == "(" && ++open > 0) return is_name(word(code - 1));
  }
  return false;
}

// Whether a region of the edited text makes the file worse: something is missing there, or it holds
// a token that was there before and not damaged, or added text without a macro to blame.
bool harms(const Source& before, const std::vector<ByteEdit>& edits, const Source& after,
           const Damage& damage) {
  const uint32_t end = std::max(damage.end, damage.begin + 1);
  const CodeRange range = damage.missing ? CodeRange{} : code_range(after, damage.begin, end);
  bool macro = range.first < range.second && is_argument(after, range.first);
  int64_t shift = 0;
  auto edit = edits.begin();
  // Whether what stands at [from, to) was there before and could be read, or is added.
  enum class Was { kAdded, kDamaged, kReadable };
  const auto was = [&](uint32_t from, uint32_t to) {
    const auto added_end = [&] {
      return int64_t{edit->begin} + shift + static_cast<int64_t>(edit->text.size());
    };
    for (; edit != edits.end() && added_end() <= from; ++edit)
      shift += static_cast<int64_t>(edit->text.size()) - (edit->end - edit->begin);
    if (edit != edits.end() && edit->begin + shift < to) return Was::kAdded;
    return was_damaged(before, static_cast<uint32_t>(from - shift),
                       static_cast<uint32_t>(to - shift))
               ? Was::kDamaged
               : Was::kReadable;
  };
  if (damage.missing) return was(damage.begin, damage.begin + 1) != Was::kDamaged;
  bool added = false;
  for (uint32_t i = range.first; i < range.second; ++i) {
    const Token& token = after.tokens()[after.code()[i]];
    const Was old = was(token.begin, token.end);
    if (old == Was::kReadable) return true;
    added = added || old == Was::kAdded;
    macro = macro || is_macro_name(token.text(after.bytes()));
  }
  return added && !macro;
}

}  // namespace

std::optional<Damage> damage_at(const Source& source, uint32_t begin, uint32_t end) {
  if (source.tree() == nullptr) return std::nullopt;
  const std::vector<TSNode> chain = source.tree()->chain(begin, end);
  if (auto misread = misread_keyword(source, chain, begin, end)) return misread;
  if (source.damage().empty()) return std::nullopt;
  for (const TSNode& node : chain) {
    if (ts_node_is_error(node) && is_damaged(node)) return as_damage(node);
  }
  for (const Damage& damage : source.damage()) {
    const bool inside = damage.missing ? begin <= damage.begin && damage.begin <= end
                                       : begin < damage.end && damage.begin < end;
    if (inside) return damage;
  }
  return damage_beside(chain);
}

bool parses_worse(const Source& before, const Source& after) {
  return after.tree() != nullptr && after.damage().size() > before.damage().size();
}

std::optional<Damage> new_damage(const Source& before, const std::vector<ByteEdit>& edits,
                                 const Source& after) {
  if (!parses_worse(before, after)) return std::nullopt;
  std::set<std::pair<int64_t, std::string_view>> moved;  // where each old damage begins now
  int64_t shift = 0;
  auto edit = edits.begin();
  for (const Damage& damage : before.damage()) {
    for (; edit != edits.end() && edit->end <= damage.begin; ++edit)
      shift += static_cast<int64_t>(edit->text.size()) - (edit->end - edit->begin);
    moved.emplace(damage.begin + shift, damage.what);
  }
  const auto is_new = [&](const Damage& damage) {
    return !moved.contains({damage.begin, damage.what}) && harms(before, edits, after, damage);
  };
  const auto found = std::find_if(after.damage().begin(), after.damage().end(), is_new);
  return found == after.damage().end() ? std::nullopt : std::optional(*found);
}

std::string describe(const Source& source, const Damage& damage) {
  const Place begin = source.place(damage.begin);
  if (damage.missing)
    return fmt::format("MISSING `{}` {}:{}", damage.what, begin.line, begin.column);
  const Place end = source.place(std::max(damage.begin + 1, damage.end) - 1);
  return fmt::format("{} {}:{}-{}:{}", damage.what, begin.line, begin.column, end.line,
                     end.column + 1);
}

}  // namespace patcher
