#include "patcher/syntax/scope.h"

#include <algorithm>

#include "patcher/syntax/tokens.h"

namespace patcher {
namespace {

bool one_of(std::string_view text, std::initializer_list<std::string_view> list) {
  return std::find(list.begin(), list.end(), text) != list.end();
}

std::string_view strip_template_args(std::string_view component) {
  if (component.starts_with("operator")) return component;
  return component.substr(0, component.find('<'));
}

bool same_component(std::string_view scope, std::string_view spec) {
  return scope == spec || strip_template_args(scope) == spec;
}

bool name_matches(const Scope& scope, const ScopeSpec& spec) {
  if (spec.name.size() > scope.name.size()) return false;
  if (spec.absolute && spec.name.size() != scope.name.size()) return false;
  return std::equal(spec.name.rbegin(), spec.name.rend(), scope.name.rbegin(),
                    [](const auto& a, const auto& b) { return same_component(b, a); });
}

bool is_function(const Scope& scope) {
  return scope.kind == Scope::Kind::kFunction || scope.kind == Scope::Kind::kDeclaration;
}

bool keyword_matches(const Scope& scope, std::string_view keyword) {
  if (keyword.empty()) return true;
  return scope.kind == (keyword == "namespace" ? Scope::Kind::kNamespace : Scope::Kind::kType);
}

bool signature_matches(const Scope& scope, const ScopeSpec& spec) {
  if (!spec.params) return true;
  if (!is_function(scope)) return false;
  if (scope.params != *spec.params && scope.written_params != *spec.params) return false;
  return spec.qualifiers.empty() || scope.qualifiers == spec.qualifiers;
}

bool is_own_constructor(const Scope& scope) {
  const size_t n = scope.name.size();
  return is_function(scope) && n >= 2 &&
         strip_template_args(scope.name[n - 1]) == strip_template_args(scope.name[n - 2]);
}

// Drops those for which `weak` holds, unless that leaves nothing.
template <typename Weak>
void prefer_others(std::vector<const Scope*>& scopes, Weak weak) {
  if (std::all_of(scopes.begin(), scopes.end(), weak)) return;
  std::erase_if(scopes, weak);
}

std::string join(const std::vector<std::string>& parts, std::string_view separator) {
  std::string out;
  for (const std::string& part : parts) {
    if (!out.empty()) out += separator;
    out += part;
  }
  return out;
}

// Readable spelling of tokens joined by blanks: "std :: span < int >" -> "std::span<int>".
std::string tighten(std::string_view type) {
  std::string out;
  for (size_t i = 0; i < type.size(); ++i) {
    const auto tight = [](char c) { return std::string_view(":<>&*,").find(c) < 6; };
    const bool drop = type[i] == ' ' && ((i > 0 && one_of(type.substr(i - 1, 1), {":", "<"})) ||
                                         (i + 1 < type.size() && tight(type[i + 1])));
    if (!drop) out += type[i];
  }
  return out;
}

// --- reading a hunk header's scope

struct SpecReader {
  std::string_view text;
  std::vector<Token> tokens;
  size_t next = 0;

  std::string_view peek() const {
    return next < tokens.size() ? tokens[next].text(text) : std::string_view();
  }
  bool done() const { return next == tokens.size(); }

  // One component with its template arguments; empty when there is none.
  std::string component() {
    std::string out(take());
    if (out == "~") out += take();
    if (out == "operator") {
      while (!done() && (peek() != "(" || out == "operator"))
        out += take();
      if (out == "operator(") out += take();
      return out;
    }
    for (int depth = 0; !done() && (depth > 0 || peek() == "<");) {
      depth += peek() == "<" ? 1 : peek() == ">" ? -1 : 0;
      out += take();
    }
    return out;
  }

  // Types up to the closing parenthesis; nothing when it does not close.
  std::optional<std::vector<std::string>> params() {
    std::vector<std::string> out;
    std::string type;
    for (int depth = 0; !done();) {
      const std::string_view t = take();
      if (depth == 0 && (t == ")" || t == ",")) {
        if (!type.empty()) out.push_back(type);
        type.clear();
        if (t == ")") return out == std::vector<std::string>{"void"} ? decltype(out){} : out;
        continue;
      }
      depth += one_of(t, {"(", "<", "[", "{"}) ? 1 : one_of(t, {")", ">", "]", "}"}) ? -1 : 0;
      type += (type.empty() ? "" : " ") + std::string(t);
    }
    return std::nullopt;
  }

  std::string_view take() { return done() ? std::string_view() : tokens[next++].text(text); }
};

bool starts_name(std::string_view token) {
  const char c = token.empty() ? ' ' : token.front();
  return token == "~" || c == '_' || std::isalpha(static_cast<unsigned char>(c)) != 0 ||
         static_cast<unsigned char>(c) >= 0x80;
}

bool read_name(SpecReader& in, ScopeSpec& spec) {
  if (in.peek() == "::") {
    spec.absolute = true;
    in.take();
  }
  while (starts_name(in.peek())) {
    spec.name.push_back(in.component());
    if (in.peek() != "::") return true;
    in.take();
  }
  return false;
}

}  // namespace

std::string Scope::display() const {
  std::string out = join(name, "::");
  if (!is_function(*this)) return out;
  std::vector<std::string> types;
  for (const std::string& type : params)
    types.push_back(tighten(type));
  return out + "(" + join(types, ", ") + ")" + (qualifiers.empty() ? "" : " " + qualifiers);
}

std::optional<ScopeSpec> parse_scope(std::string_view text) {
  ScopeSpec spec{.text = squeeze(text)};
  if (spec.text == "file") {
    spec.file = true;
    return spec;
  }
  SpecReader in{.text = spec.text, .tokens = tokenize(spec.text, Language::kCpp)};
  if (one_of(in.peek(), {"class", "struct", "union", "enum", "namespace"})) {
    spec.keyword = in.take();
  }
  if (!read_name(in, spec)) return std::nullopt;
  if (in.peek() == "(" && spec.keyword.empty()) {
    in.take();
    spec.params = in.params();
    if (!spec.params) return std::nullopt;
    while (!in.done())
      spec.qualifiers += (spec.qualifiers.empty() ? "" : " ") + std::string(in.take());
  }
  if (!in.done()) return std::nullopt;
  return spec;
}

std::vector<const Scope*> resolve_scope(const std::vector<Scope>& scopes, const ScopeSpec& spec) {
  std::vector<const Scope*> all;
  all.reserve(scopes.size());
  for (const Scope& scope : scopes)
    all.push_back(&scope);
  return resolve_scope(all, spec);
}

std::vector<const Scope*> resolve_scope(const std::vector<const Scope*>& scopes,
                                        const ScopeSpec& spec) {
  std::vector<const Scope*> found;
  std::copy_if(scopes.begin(), scopes.end(), std::back_inserter(found), [&](const Scope* scope) {
    return name_matches(*scope, spec) && keyword_matches(*scope, spec.keyword) &&
           signature_matches(*scope, spec);
  });
  prefer_others(found, [](const Scope* s) { return s->kind == Scope::Kind::kDeclaration; });
  if (spec.name.size() == 1 && !spec.params) {
    prefer_others(found, [](const Scope* s) { return is_own_constructor(*s); });
  }
  return found;
}

ScopeNames::ScopeNames(const std::vector<Scope>& scopes) {
  for (const Scope& scope : scopes) {
    if (!scope.name.empty()) by_name_[strip_template_args(scope.name.back())].push_back(&scope);
  }
}

std::vector<const Scope*> ScopeNames::ending_in(const ScopeSpec& spec) const {
  const auto found = by_name_.find(strip_template_args(spec.name.back()));
  return found != by_name_.end() ? found->second : std::vector<const Scope*>{};
}

}  // namespace patcher
