#include "lane/reply_grammar.h"

#include <fmt/format.h>

#include <algorithm>

#include "lane/constraint.h"
#include "lane/json_grammar.h"

namespace engine::lane {
namespace {

using Rule = Grammar::Rule;
using Sequence = Grammar::Sequence;
using nlohmann::ordered_json;
using Notation = ToolFormat::Notation;

class ReplyGrammar {
 public:
  explicit ReplyGrammar(const Served& served) : served_(served) {}

  Rule json(const ReplyFormat& format) {
    JsonGrammar json(grammar_, true);
    return format.schema ? json.schema(*format.schema) : json.any_object();
  }

  // A call from its mark on.
  Rule call(const JsonField& tools) {
    const ToolFormat& format = *served_.format;
    Sequence whole = mark_or_text(format.lead);
    // Llama 3 writes a call without the mark, too, and rather so.
    if (format.notation != Notation::kLlama3) append(whole, mark_or_text(format.begin));
    append(whole, grammar_.literal(format.opening({})));
    append(whole, {Grammar::rule(rest_of_call(tools, std::nullopt))});
    return grammar_.add_rule({whole});
  }

  // What follows the opening: the name, if none was named, the arguments, and the end.
  Rule rest_of_call(const JsonField& tools, const std::optional<std::string>& named) {
    const Rule rule = grammar_.add_rule();
    for (const JsonField& tool : tools.elements()) {
      const JsonField function = tool.at("function");
      const std::string name = function.at("name").string();
      if (named && name != *named) continue;
      Sequence rest;
      if (!named) {
        const ToolFormat& format = *served_.format;
        rest = grammar_.literal(format.opening(name).substr(format.opening({}).size()));
      }
      append(rest, arguments(function));
      grammar_.add_alternative(rule, rest);
    }
    return rule;
  }

  Rule either(Rule one, Rule other) {
    return grammar_.add_rule({{Grammar::rule(one)}, {Grammar::rule(other)}});
  }

  runtime::LogitsRule rule(Rule root, const std::vector<model::Token>& stops) {
    auto vocabulary = served_.vocabulary;
    if (!vocabulary)
      vocabulary = std::make_shared<const Vocabulary>(vocabulary_of(served_.model.tokenizer()));
    const auto constraint =
        std::make_shared<Constraint>(std::move(grammar_), root, *vocabulary, marks_, stops);
    return [constraint, vocabulary](std::span<const model::Token> reply, std::span<float> logits) {
      constraint->apply(reply, logits);
    };
  }

 private:
  static void append(Sequence& to, const Sequence& more) {
    to.insert(to.end(), more.begin(), more.end());
  }

  Sequence mark_or_text(const std::string& text) {
    const auto token = served_.model.tokenizer().find(text);
    if (text.empty() || !token) return grammar_.literal(text);
    marks_.push_back(*token);
    return {Grammar::mark(*token)};
  }

  // With what closes the call. GLM's are no JSON: there the name alone is kept to.
  Sequence arguments(const JsonField& function) {
    const ToolFormat& format = *served_.format;
    if (format.notation == Notation::kGlm) return {Grammar::anything()};
    Sequence rest{Grammar::rule(parameters(function))};
    const std::string before = format.before_name;
    std::string close = before.find('{') != std::string::npos ? "}" : "";
    if (before.find('[') != std::string::npos) close += "]";
    if (format.after_name.find("```") != std::string::npos) close += "\n```";
    if (!format.end.empty() && format.after_name.starts_with(',') && before.starts_with('\n'))
      close += "\n";
    append(rest, grammar_.literal(close));
    append(rest, mark_or_text(format.end));
    append(rest, mark_or_text(format.trail));
    return rest;
  }

  Rule parameters(const JsonField& function) {
    JsonGrammar json(grammar_, false);
    const auto schema = function.find("parameters");
    if (!schema) return json.any_object();
    const auto strict = function.find("strict");
    try {
      return json.schema(*schema);
    } catch (const ApiError&) {
      if (strict && strict->boolean()) throw;
      return json.any_object();
    }
  }

  const Served& served_;
  Grammar grammar_;
  std::vector<model::Token> marks_;
};

}  // namespace

ReplyFormat read_reply_format(const JsonField& body) {
  const auto field = body.find("response_format");
  if (!field) return {};
  const std::string type = field->at("type").string();
  if (type == "text") {
    field->allow_only({"type"});
    return {};
  }
  if (type == "json_object") {
    field->allow_only({"type", "schema"});
    return {true, field->find("schema")};
  }
  if (type != "json_schema")
    field->at("type").fail_expected(R"("text", "json_object" or "json_schema")");
  field->allow_only({"type", "json_schema"});
  const JsonField named = field->at("json_schema");
  named.allow_only({"name", "description", "schema", "strict"});
  return {true, named.at("schema")};
}

runtime::LogitsRule reply_rule(const ReplyFormat& format, const std::optional<JsonField>& tools,
                               const std::optional<std::string>& name,
                               const GenerationRequest& request, const Served& served) {
  ReplyGrammar grammar(served);
  Rule root = 0;
  if (request.begun_call) {
    root = grammar.rest_of_call(*tools, name);
  } else if (format.json) {
    root = grammar.json(format);
    if (tools) root = grammar.either(root, grammar.call(*tools));
  } else {
    return {};
  }
  return grammar.rule(root, request.engine.params.stop_tokens);
}

}  // namespace engine::lane
