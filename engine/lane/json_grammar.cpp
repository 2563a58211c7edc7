#include "lane/json_grammar.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "model/json_spacing.h"

namespace engine::lane {
namespace {

using nlohmann::ordered_json;
using Bytes = Grammar::Bytes;
using Rule = Grammar::Rule;
using Sequence = Grammar::Sequence;

constexpr std::size_t kMostSymbols = 200'000;
constexpr std::int64_t kMostTimes = 256;  // of what has bounds

Bytes range(int first, int last) {
  Bytes bytes;
  for (int byte = first; byte <= last; ++byte)
    bytes.set(static_cast<std::size_t>(byte));
  return bytes;
}

Bytes bytes_of(std::string_view text) {
  Bytes bytes;
  for (const char byte : text)
    bytes.set(static_cast<unsigned char>(byte));
  return bytes;
}

Sequence joined(std::initializer_list<Sequence> parts) {
  Sequence all;
  for (const Sequence& part : parts)
    all.insert(all.end(), part.begin(), part.end());
  return all;
}

Sequence of(Rule rule) {
  return {Grammar::rule(rule)};
}

void check_keywords(const JsonField& schema) {
  constexpr auto kKnown = std::to_array<std::string_view>(
      {"$comment", "$defs",     "$id",       "$ref",         "$schema",    "additionalProperties",
       "anyOf",    "const",     "default",   "definitions",  "deprecated", "description",
       "enum",     "examples",  "format",    "items",        "maxItems",   "maxLength",
       "minItems", "minLength", "oneOf",     "properties",   "readOnly",   "required",
       "title",    "type",      "writeOnly", "discriminator"});
  for (const auto& [key, unused] : schema.value().items()) {
    if (std::ranges::find(kKnown, key) == kKnown.end())
      schema.fail(fmt::format("the keyword \"{}\" cannot be enforced here", key));
  }
}

std::size_t bound(const JsonField& schema, const char* name, std::size_t otherwise) {
  const auto field = schema.find(name);
  return field ? static_cast<std::size_t>(field->integer(0, kMostTimes)) : otherwise;
}

std::optional<std::size_t> upper_bound(const JsonField& schema, const char* name) {
  if (!schema.find(name)) return std::nullopt;
  return bound(schema, name, 0);
}

}  // namespace

JsonGrammar::JsonGrammar(Grammar& grammar, bool lines) : grammar_(grammar) {
  std::vector<Sequence> blanks{{}, text(" ")};
  if (lines) {
    Rule more = grammar_.add_rule({{}});
    for (int i = 0; i < 16; ++i)
      more = grammar_.add_rule({{}, {grammar_.one_of(bytes_of(" \t")), Grammar::rule(more)}});
    blanks.push_back(joined({text("\n"), of(more)}));
  }
  blank_ = grammar_.add_rule(blanks);
  make_values();
}

// Whole characters of UTF-8, and escapes that are characters.
Rule JsonGrammar::character() {
  const auto set = [&](int first, int last) { return grammar_.one_of(range(first, last)); };
  const Grammar::Symbol tail = set(0x80, 0xbf);
  const Grammar::Symbol hex = grammar_.one_of(bytes_of("0123456789abcdefABCDEF"));
  const Grammar::Symbol d = grammar_.one_of(bytes_of("dD"));
  const Sequence escape_u = text("\\u");
  Bytes plain = range(0x20, 0x7f);
  plain.reset('"').reset('\\');
  return grammar_.add_rule({
      {grammar_.one_of(plain)},
      {set(0xc2, 0xdf), tail},
      {set(0xe0, 0xe0), set(0xa0, 0xbf), tail},
      {grammar_.one_of(range(0xe1, 0xef).reset(0xed)), tail, tail},
      {set(0xed, 0xed), set(0x80, 0x9f), tail},
      {set(0xf0, 0xf0), set(0x90, 0xbf), tail, tail},
      {set(0xf1, 0xf3), tail, tail, tail},
      {set(0xf4, 0xf4), set(0x80, 0x8f), tail, tail},
      joined({text("\\"), {grammar_.one_of(bytes_of("\"\\/bfnrt"))}}),
      joined({escape_u, {grammar_.one_of(bytes_of("0123456789abcefABCEF")), hex, hex, hex}}),
      joined({escape_u, {d, grammar_.one_of(bytes_of("01234567")), hex, hex}}),
      joined({escape_u,
              {d, grammar_.one_of(bytes_of("89abAB")), hex, hex},
              escape_u,
              {d, grammar_.one_of(bytes_of("cdefCDEF")), hex, hex}}),
  });
}

// One to `most`.
Rule JsonGrammar::digits(std::size_t most) {
  const Grammar::Symbol digit = grammar_.one_of(range('0', '9'));
  return repeated({digit}, {digit}, 1, most);
}

// At most 16 digits before the point and after it, so that a number ends.
void JsonGrammar::make_values() {
  character_ = character();
  Rule characters = grammar_.add_rule({{}});
  grammar_.add_alternative(characters, {Grammar::rule(character_), Grammar::rule(characters)});
  string_ = grammar_.add_rule({joined({text("\""), of(characters), text("\"")})});
  const Grammar::Symbol digit = grammar_.one_of(range('0', '9'));
  const Rule rest = repeated({digit}, {digit}, 0, 15);
  const Rule natural =
      grammar_.add_rule({text("0"), {grammar_.one_of(range('1', '9')), Grammar::rule(rest)}});
  const Rule sign = grammar_.add_rule({{}, text("-")});
  integer_ = grammar_.add_rule({joined({of(sign), of(natural)})});
  const Rule fraction = grammar_.add_rule({{}, joined({text("."), of(digits(16))})});
  const Rule plus = grammar_.add_rule({{}, {grammar_.one_of(bytes_of("+-"))}});
  const Rule exponent =
      grammar_.add_rule({{}, joined({{grammar_.one_of(bytes_of("eE"))}, of(plus), of(digits(2))})});
  number_ = grammar_.add_rule({joined({of(integer_), of(fraction), of(exponent)})});
  value_ = grammar_.add_rule({of(string_), of(number_), text("true"), text("false"), text("null")});
  object_ = listed(joined({of(string_), with_blank(':'), of(value_)}), '{', '}');
  grammar_.add_alternative(value_, of(object_));
  grammar_.add_alternative(value_, of(listed(of(value_), '[', ']')));
}

Sequence JsonGrammar::with_blank(char mark) {
  return joined({text({&mark, 1}), of(blank_)});
}

Rule JsonGrammar::listed(const Sequence& one, char open, char close) {
  const Rule some = repeated(one, joined({with_blank(','), one}), 0, std::nullopt);
  return grammar_.add_rule({joined({with_blank(open), of(some), of(blank_), text({&close, 1})}),
                            joined({text({&open, 1}), text({&close, 1})})});
}

// `first`, then `next` again and again: `least` to `most` of them in all.
Rule JsonGrammar::repeated(const Sequence& first, const Sequence& next, std::size_t least,
                           std::optional<std::size_t> most) {
  Rule more = grammar_.add_rule({{}});
  if (!most) grammar_.add_alternative(more, joined({next, of(more)}));
  for (std::size_t i = most.value_or(std::max<std::size_t>(least, 1)); i > 0; --i) {
    const Sequence one = joined({i == 1 ? first : next, of(more)});
    more = i > least ? grammar_.add_rule({{}, one}) : grammar_.add_rule({one});
  }
  return more;
}

Rule JsonGrammar::schema(const JsonField& root) {
  root_ = root;
  references_.clear();
  const Rule rule = value(root);
  if (grammar_.is_left_recursive()) root.fail("the schema refers to itself without an end");
  return rule;
}

Rule JsonGrammar::value(const JsonField& schema) {
  if (schema.value() == true) return value_;
  schema.require_object();
  check_keywords(schema);
  if (grammar_.size() > kMostSymbols) schema.fail("the schema is too large");
  if (const auto field = schema.find("$ref")) return reference(*field);
  const Rule rule = grammar_.add_rule();
  add_values(schema, rule);
  return rule;
}

Rule JsonGrammar::reference(const JsonField& field) {
  const std::string pointer = field.string();
  if (!pointer.starts_with('#')) field.fail("only references within the schema are followed");
  if (const auto known = references_.find(pointer); known != references_.end())
    return known->second;
  const Rule rule = references_[pointer] = grammar_.add_rule();
  try {
    const ordered_json::json_pointer place(pointer.substr(1));
    if (!root_->value().contains(place)) field.fail("there is no such schema");
    const JsonField target(root_->value().at(place), root_->place() + pointer.substr(1));
    grammar_.add_alternative(rule, of(value(target)));
  } catch (const ordered_json::exception&) {
    field.fail("expected a JSON pointer");
  }
  return rule;
}

void JsonGrammar::add_values(const JsonField& schema, Rule rule) {
  const auto add_spelled = [&](const ordered_json& json) {
    grammar_.add_alternative(rule, text(model::spaced_json(to_text(json))));
  };
  // A null is found by no `find`.
  if (schema.value().contains("const")) return add_spelled(schema.value().at("const"));
  if (const auto list = schema.find("enum")) {
    if (list->elements().empty()) list->fail("nothing is allowed");
    for (const JsonField& one : list->elements())
      add_spelled(one.value());
    return;
  }
  for (const char* name : {"anyOf", "oneOf"}) {
    const auto list = schema.find(name);
    if (!list) continue;
    for (const char* other : {"type", "properties", "items", "required"})
      if (schema.find(other)) list->fail(fmt::format("not together with {}", other));
    if (list->elements().empty()) list->fail("nothing is allowed");
    for (const JsonField& one : list->elements())
      grammar_.add_alternative(rule, of(value(one)));
    return;
  }
  const auto type = schema.find("type");
  if (!type) {
    const bool is_object = schema.find("properties") || schema.find("required");
    const bool is_array = schema.find("items") || schema.find("minItems");
    if (is_object) return add_typed(schema, "object", rule);
    if (is_array) return add_typed(schema, "array", rule);
    return grammar_.add_alternative(rule, of(value_));
  }
  if (type->value().is_string()) return add_typed(schema, type->string(), rule);
  if (type->elements().empty()) type->fail("nothing is allowed");
  for (const JsonField& one : type->elements())
    add_typed(schema, one.string(), rule);
}

void JsonGrammar::add_typed(const JsonField& schema, const std::string& type, Rule rule) {
  if (type == "boolean") {
    grammar_.add_alternative(rule, text("true"));
    grammar_.add_alternative(rule, text("false"));
    return;
  }
  const auto made = [&] {
    if (type == "object") return of(object(schema));
    if (type == "array") return of(array(schema));
    if (type == "string") return of(string(schema));
    if (type == "number") return of(number_);
    if (type == "integer") return of(integer_);
    if (type != "null") schema.at("type").fail(fmt::format("there is no type \"{}\"", type));
    return text("null");
  };
  grammar_.add_alternative(rule, made());
}

Rule JsonGrammar::string(const JsonField& schema) {
  const auto most = upper_bound(schema, "maxLength");
  const std::size_t least = bound(schema, "minLength", 0);
  if (!most && least == 0) return string_;
  if (most && *most < least) schema.fail("minLength is above maxLength");
  const Rule inner = repeated(of(character_), of(character_), least, most);
  return grammar_.add_rule({joined({text("\""), of(inner), text("\"")})});
}

Rule JsonGrammar::array(const JsonField& schema) {
  const auto items = schema.find("items");
  const Sequence one = of(items ? value(*items) : value_);
  const auto most = upper_bound(schema, "maxItems");
  const std::size_t least = bound(schema, "minItems", 0);
  if (most && *most < least) schema.fail("minItems is above maxItems");
  const Rule some = repeated(one, joined({with_blank(','), one}), least, most);
  return grammar_.add_rule({joined({with_blank('['), of(some), of(blank_), text("]")})});
}

// From the last property to the first: what may follow where none was written yet, and where one
// was, so that the comma is right.
Rule JsonGrammar::object(const JsonField& schema) {
  const auto properties = schema.find("properties");
  const auto others = schema.find("additionalProperties");
  const bool open = others && others->value() != false;
  if (!properties && (!others || others->value() == true) && !schema.find("required"))
    return object_;
  std::vector<std::string> required;
  if (const auto list = schema.find("required"))
    for (const JsonField& name : list->elements()) {
      required.push_back(name.string());
      if (!properties || !properties->value().contains(required.back()))
        name.fail("there is no such property");
    }
  Rule after_none = grammar_.add_rule({{}}), after_some = after_none;
  if (open) {
    const Sequence one = joined({of(string_), with_blank(':'), of(value(*others))});
    const Sequence next = joined({with_blank(','), one});
    after_some = repeated(next, next, 0, std::nullopt);
    after_none = repeated(one, next, 0, std::nullopt);
  }
  std::vector<std::string> names;
  if (properties)
    for (const auto& [name, unused] : properties->value().items())
      names.push_back(name);
  for (auto name = names.rbegin(); name != names.rend(); ++name) {
    const Sequence one = joined(
        {text(to_text(ordered_json(*name))), with_blank(':'), of(value(properties->at(*name)))});
    std::vector<Sequence> first{joined({one, of(after_some)})},
        next{joined({with_blank(','), one, of(after_some)})};
    if (std::ranges::find(required, *name) == required.end()) {
      first.push_back(of(after_none));
      next.push_back(of(after_some));
    }
    after_none = grammar_.add_rule(first);
    after_some = grammar_.add_rule(next);
  }
  return grammar_.add_rule({joined({with_blank('{'), of(after_none), of(blank_), text("}")})});
}

}  // namespace engine::lane
