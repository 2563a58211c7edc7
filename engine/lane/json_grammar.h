// JSON texts as rules of a grammar: any value, any object, or what a JSON schema describes.
#pragma once

#include <map>
#include <string>

#include "lane/grammar.h"
#include "lane/json_field.h"

namespace engine::lane {

class JsonGrammar {
 public:
  // Between tokens of JSON stands nothing or a blank, or with `lines` a line end and at most 16
  // blanks. `grammar` must outlive it.
  JsonGrammar(Grammar& grammar, bool lines);

  Grammar::Rule any_object() const { return object_; }

  // Objects have the properties in the schema's order, the required ones at least, and others only
  // where additionalProperties allows them. Read are type, enum, const, properties, required,
  // additionalProperties, items, minItems, maxItems, minLength, maxLength, anyOf, oneOf (as anyOf),
  // $ref within the schema, and notes such as title; format is a note. Throws ApiError naming any
  // other keyword, and what a grammar cannot be made of.
  Grammar::Rule schema(const JsonField& root);

 private:
  using Sequence = Grammar::Sequence;

  void make_values();
  Grammar::Rule character();
  Grammar::Rule digits(std::size_t most);
  Sequence text(std::string_view spelled) { return grammar_.literal(spelled); }
  Sequence with_blank(char mark);
  Grammar::Rule listed(const Sequence& one, char open, char close);
  Grammar::Rule repeated(const Sequence& first, const Sequence& next, std::size_t least,
                         std::optional<std::size_t> most);

  Grammar::Rule value(const JsonField& schema);
  void add_values(const JsonField& schema, Grammar::Rule rule);
  void add_typed(const JsonField& schema, const std::string& type, Grammar::Rule rule);
  Grammar::Rule reference(const JsonField& field);
  Grammar::Rule object(const JsonField& schema);
  Grammar::Rule array(const JsonField& schema);
  Grammar::Rule string(const JsonField& schema);

  Grammar& grammar_;
  Grammar::Rule blank_, character_, string_, number_, integer_, value_, object_;
  std::optional<JsonField> root_;
  std::map<std::string, Grammar::Rule> references_;
};

}  // namespace engine::lane
