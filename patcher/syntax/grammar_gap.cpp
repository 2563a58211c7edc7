#include "patcher/syntax/grammar_gap.h"

#include "patcher/syntax/syntax_tree.h"

namespace patcher {
namespace {

bool is_default_braces(TSNode missing, TSNode parent) {
  if (type_of(missing) != "type_identifier") return false;
  if (type_of(parent) != "compound_literal_expression") return false;
  const TSNode owner = ts_node_parent(parent);
  return !ts_node_is_null(owner) && type_of(owner) == "optional_parameter_declaration";
}

bool is_name_of_enum(TSNode missing, TSNode parent) {
  return type_of(missing) == "type_identifier" && type_of(parent) == "enum_specifier";
}

bool is_one_word(TSNode error) {
  return ts_node_child_count(error) == 1 &&
         type_of(ts_node_child(error, 0)).ends_with("identifier") &&
         ts_node_child_count(ts_node_child(error, 0)) == 0;
}

// MACRO specifier... ERROR declarator
bool is_type_behind_macro(TSNode error, TSNode parent) {
  const std::string_view type = type_of(parent);
  const bool declares =
      type == "function_definition" || type == "declaration" || type == "field_declaration";
  if (!declares || !is_one_word(error)) return false;
  const TSNode before = ts_node_prev_sibling(error);
  const TSNode after = ts_node_next_sibling(error);
  if (ts_node_is_null(before) || type_of(before) != "storage_class_specifier") return false;
  if (ts_node_is_null(after) || !type_of(after).ends_with("function_declarator")) return false;
  const TSNode macro = field(parent, "type");
  return !ts_node_is_null(macro) && type_of(macro) == "type_identifier" &&
         ts_node_end_byte(macro) <= ts_node_start_byte(before);
}

// MACRO const... ERROR declarator ; where no statement can be.
bool is_type_in_prototype(TSNode error, TSNode parent) {
  if (type_of(parent) != "declaration" || !is_one_word(error)) return false;
  const TSNode owner = ts_node_parent(parent);
  if (ts_node_is_null(owner) || type_of(owner) == "compound_statement") return false;
  TSNode declarator = ts_node_next_sibling(error);
  while (!ts_node_is_null(declarator) && type_of(declarator) == "pointer_declarator")
    declarator = field(declarator, "declarator");
  if (ts_node_is_null(declarator) || type_of(declarator) != "function_declarator") return false;
  const TSNode macro = field(parent, "type");
  return !ts_node_is_null(macro) && type_of(macro) == "type_identifier" &&
         ts_node_end_byte(macro) <= ts_node_start_byte(error);
}

}  // namespace

bool is_grammar_gap(TSNode node) {
  const TSNode parent = ts_node_parent(node);
  if (ts_node_is_null(parent)) return false;
  return ts_node_is_missing(node)
             ? is_default_braces(node, parent) || is_name_of_enum(node, parent)
             : is_type_behind_macro(node, parent) || is_type_in_prototype(node, parent);
}

bool is_damaged(TSNode node) {
  return (ts_node_is_error(node) || ts_node_is_missing(node)) && !is_grammar_gap(node);
}

bool holds_damage(TSNode node) {
  if (!ts_node_has_error(node) && !ts_node_is_missing(node)) return false;
  bool found = false;
  walk(node, [&](TSNode inner, int) {
    found = found || is_damaged(inner);
    return !found && ts_node_has_error(inner);
  });
  return found;
}

}  // namespace patcher
