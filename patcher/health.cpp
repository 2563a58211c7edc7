#include "patcher/health.h"

#include <fmt/format.h>

#include <algorithm>

namespace patcher {
namespace {

Damage as_damage(TSNode node) {
  const bool missing = ts_node_is_missing(node);
  return {.begin = ts_node_start_byte(node),
          .end = ts_node_end_byte(node),
          .missing = missing,
          .what = missing ? ts_node_type(node) : "ERROR"};
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
    if (ts_node_is_missing(child)) return as_damage(child);
  }
  return std::nullopt;
}

}  // namespace

std::optional<Damage> damage_at(const Source& source, uint32_t begin, uint32_t end) {
  if (source.tree() == nullptr || source.damage().empty()) return std::nullopt;
  const std::vector<TSNode> chain = source.tree()->chain(begin, end);
  for (const TSNode& node : chain) {
    if (ts_node_is_error(node)) return as_damage(node);
  }
  for (const Damage& damage : source.damage()) {
    const bool inside = damage.missing ? begin <= damage.begin && damage.begin <= end
                                       : begin < damage.end && damage.begin < end;
    if (inside) return damage;
  }
  for (auto it = chain.rbegin(); it != chain.rend() && !is_declaration_level(*it); ++it) {
    if (const auto found = missing_child(*it)) return found;
  }
  return std::nullopt;
}

std::optional<Damage> new_damage(const Source& before, const Source& after) {
  if (after.tree() == nullptr || after.damage().size() <= before.damage().size()) {
    return std::nullopt;
  }
  for (size_t i = 0; i < before.damage().size(); ++i) {
    const Damage& a = before.damage()[i];
    const Damage& b = after.damage()[i];
    if (a.begin != b.begin || a.what != b.what) return b;
  }
  return after.damage().back();
}

std::string describe(const Source& source, const Damage& damage) {
  const Place begin = source.place(damage.begin);
  if (damage.missing)
    return fmt::format("MISSING `{}` {}:{}", damage.what, begin.line, begin.column);
  const Place end = source.place(std::max(damage.begin + 1, damage.end) - 1);
  return fmt::format("ERROR {}:{}-{}:{}", begin.line, begin.column, end.line, end.column + 1);
}

}  // namespace patcher
