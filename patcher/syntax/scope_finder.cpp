// find_scopes: one walk over the tree that collects what hunk headers can name.
#include <algorithm>

#include "patcher/syntax/scope.h"
#include "patcher/syntax/tokens.h"

namespace patcher {
namespace {

bool is_declarator(std::string_view type) {
  return type.ends_with("_declarator");
}

// The declarator inside of a pointer, reference, array or parenthesised one.
TSNode inner_declarator(TSNode node) {
  const TSNode named = field(node, "declarator");
  if (!ts_node_is_null(named)) return named;
  const uint32_t n = ts_node_named_child_count(node);
  return n > 0 ? ts_node_named_child(node, n - 1) : TSNode{};
}

TSNode function_declarator(TSNode declarator) {
  while (!ts_node_is_null(declarator) && type_of(declarator) != "function_declarator") {
    if (!is_declarator(type_of(declarator))) return {};
    declarator = inner_declarator(declarator);
  }
  return declarator;
}

std::string_view text_of(TSNode node, std::string_view text) {
  return text.substr(ts_node_start_byte(node), ts_node_end_byte(node) - ts_node_start_byte(node));
}

// Code tokens of [begin, end) joined by blanks, without those in [skip_begin, skip_end).
std::string join_tokens(std::string_view text, uint32_t begin, uint32_t end,
                        uint32_t skip_begin = 0, uint32_t skip_end = 0) {
  std::string out;
  const std::string_view part = text.substr(begin, end - begin);
  for (const Token& token : tokenize(part, Language::kCpp)) {
    const uint32_t at = begin + token.begin;
    if (token.comment || (skip_begin <= at && at < skip_end)) continue;
    out += (out.empty() ? "" : " ") + std::string(token.text(part));
  }
  return out;
}

std::vector<std::string> components(TSNode name, std::string_view text) {
  std::vector<std::string> out;
  if (ts_node_is_null(name)) return out;
  const std::string_view written = text_of(name, text);
  int depth = 0;
  bool fresh = true;
  for (const Token& token : tokenize(written, Language::kCpp)) {
    const std::string_view t = token.text(written);
    if (token.comment) continue;
    if (t == "::" && depth == 0) {
      fresh = true;
      continue;
    }
    if (t == "<") ++depth;
    if (t == ">") --depth;
    if (fresh) out.emplace_back();
    fresh = false;
    out.back() += t;
  }
  return out;
}

// Tells without looking which nodes cannot hold a scope: most of a file is statements, and a walk
// through all of their nodes costs more than the parse of an edit. Knows nothing of damaged nodes,
// in which a keyword or a brace may be MISSING.
class BarrenNodes {
 public:
  explicit BarrenNodes(std::string_view text) : text_(text) {
    for (const std::string_view word :
         {"class", "struct", "union", "enum", "namespace", "template"}) {
      for (size_t i = text.find(word); i != text.npos; i = text.find(word, i + 1))
        words_.push_back(static_cast<uint32_t>(i));
    }
    std::sort(words_.begin(), words_.end());
  }

  // Of a function's parts: the functions in it do not count, so that only types are left.
  bool in_function(TSNode node) const { return !ts_node_has_error(node) && !has_word(node); }

  // Outside of functions, where a scope may also be any declaration, in a lambda's body too.
  bool outside(TSNode node, std::string_view type) const {
    if (ts_node_has_error(node)) return false;
    if (type == "initializer_list") return !has_word(node) && !has(node, ';');
    return (type == "declaration" || type == "field_declaration") && !has(node, '{');
  }

 private:
  bool has_word(TSNode node) const {
    const auto next = std::lower_bound(words_.begin(), words_.end(), ts_node_start_byte(node));
    return next != words_.end() && *next < ts_node_end_byte(node);
  }
  bool has(TSNode node, char c) const { return text_of(node, text_).find(c) != text_.npos; }

  std::string_view text_;
  std::vector<uint32_t> words_;  // where they are, in order
};

class Finder {
 public:
  Finder(const SyntaxTree& tree, std::string_view text) : tree_(tree), text_(text), barren_(text) {}

  std::vector<Scope> run() {
    walk(tree_.root(), [&](TSNode node, int depth) { return visit(node, depth); });
    std::stable_sort(scopes_.begin(), scopes_.end(), [](const Scope& a, const Scope& b) {
      return a.begin != b.begin ? a.begin < b.begin : a.end > b.end;
    });
    return std::move(scopes_);
  }

 private:
  struct Level {
    int depth = 0;
    std::vector<std::string> name;
    bool function = false;
  };

  bool visit(TSNode node, int depth) {
    while (!levels_.empty() && levels_.back().depth >= depth)
      levels_.pop_back();
    if (!ts_node_is_named(node)) return false;
    const std::string_view type = type_of(node);
    if (type == "template_declaration") note_template(node);
    if (type == "namespace_definition") {
      add(node, depth, Scope::Kind::kNamespace, components(field(node, "name"), text_));
    } else if (type.ends_with("_specifier") && !ts_node_is_null(field(node, "body"))) {
      add_type(node, depth, type);
    } else if (type == "function_definition") {
      add_function(node, depth, Scope::Kind::kFunction);
    } else if (type == "declaration" || type == "field_declaration") {
      add_function(node, depth, Scope::Kind::kDeclaration);
    }
    return !(in_function() ? barren_.in_function(node) : barren_.outside(node, type));
  }

  void note_template(TSNode node) {
    if (ts_node_end_byte(node) == template_end_) return;  // template<> template<>: the outer counts
    template_begin_ = ts_node_start_byte(node);
    template_end_ = ts_node_end_byte(node);
  }

  bool in_function() const { return !levels_.empty() && levels_.back().function; }

  void add_type(TSNode node, int depth, std::string_view type) {
    if (type != "class_specifier" && type != "struct_specifier" && type != "union_specifier" &&
        type != "enum_specifier") {
      return;
    }
    add(node, depth, Scope::Kind::kType, components(field(node, "name"), text_));
  }

  void add_function(TSNode node, int depth, Scope::Kind kind) {
    if (in_function()) return;
    const TSNode declarator = function_declarator(field(node, "declarator"));
    if (ts_node_is_null(declarator)) return;
    Scope* scope = add(node, depth, kind, components(field(declarator, "declarator"), text_));
    const TSNode params = field(declarator, "parameters");
    if (scope == nullptr || ts_node_is_null(params)) return;
    read_params(params, *scope);
    scope->qualifiers = join_tokens(text_, ts_node_end_byte(params), ts_node_end_byte(declarator));
  }

  Scope* add(TSNode node, int depth, Scope::Kind kind, std::vector<std::string> own) {
    std::vector<std::string> name =
        levels_.empty() ? std::vector<std::string>{} : levels_.back().name;
    name.insert(name.end(), own.begin(), own.end());
    const bool function = kind == Scope::Kind::kFunction;
    levels_.push_back({.depth = depth, .name = name, .function = function});
    if (own.empty()) return nullptr;
    Scope scope{.kind = kind, .name = std::move(name)};
    scope.begin = ts_node_start_byte(node);
    scope.end = ts_node_end_byte(node);
    if (template_begin_ <= scope.begin && scope.end <= template_end_ && wraps(scope.end)) {
      scope.begin = template_begin_;
    }
    scope.damaged = head_is_damaged(node);
    scopes_.push_back(std::move(scope));
    return &scopes_.back();
  }

  // Whether the current template_declaration ends with this scope, give or take its `;`.
  bool wraps(uint32_t end) const {
    return text_.substr(end, template_end_ - end).find_first_not_of(" \t\r\n;") ==
           std::string_view::npos;
  }

  void read_params(TSNode list, Scope& scope) {
    for (uint32_t i = 0; i < ts_node_child_count(list); ++i) {
      const TSNode param = ts_node_child(list, i);
      const std::string_view type = type_of(param);
      if (type == "(" || type == ")" || type == "," || type == "comment") continue;
      read_param(param, scope);
    }
    if (scope.params == std::vector<std::string>{"void"}) scope.params.clear();
  }

  void read_param(TSNode param, Scope& scope) {
    const uint32_t begin = ts_node_start_byte(param);
    uint32_t end = ts_node_end_byte(param);
    const TSNode value = field(param, "default_value");
    if (!ts_node_is_null(value)) {
      end = static_cast<uint32_t>(text_.rfind('=', ts_node_start_byte(value)));
    }
    TSNode name = field(param, "declarator");
    while (!ts_node_is_null(name) && is_declarator(type_of(name)))
      name = inner_declarator(name);
    const bool named = !ts_node_is_null(name) && type_of(name) == "identifier";
    scope.params.push_back(join_tokens(text_, begin, end, named ? ts_node_start_byte(name) : 0,
                                       named ? ts_node_end_byte(name) : 0));
    scope.written_params.push_back(join_tokens(text_, begin, end));
  }

  const SyntaxTree& tree_;
  std::string_view text_;
  const BarrenNodes barren_;
  std::vector<Level> levels_;
  std::vector<Scope> scopes_;
  uint32_t template_begin_ = 0;
  uint32_t template_end_ = 0;
};

}  // namespace

std::vector<Scope> find_scopes(const SyntaxTree& tree, std::string_view text) {
  return Finder(tree, text).run();
}

}  // namespace patcher
