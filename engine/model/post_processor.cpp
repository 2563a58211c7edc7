#include "model/post_processor.h"

#include <algorithm>

namespace engine::model {
namespace {

constexpr std::uint64_t kMaxToken = (1U << 22U) - 1;

void append_special(const JsonNode& node, std::string_view name, std::vector<Token>& out) {
  const JsonNode ids = node.at("special_tokens").at(name).at("ids");
  for (std::size_t i = 0, count = ids.require_array(); i < count; ++i)
    out.push_back(static_cast<Token>(ids.element(i).integer(0, kMaxToken)));
}

}  // namespace

PostProcessor PostProcessor::read(const std::optional<JsonNode>& node) {
  PostProcessor result;
  if (node) result.add(*node);
  return result;
}

void PostProcessor::add(const JsonNode& node) {
  const JsonNode type = node.at("type");
  const std::string name = type.string();
  if (name == "Sequence") {
    const JsonNode list = node.at("processors");
    for (std::size_t i = 0, count = list.require_array(); i < count; ++i)
      add(list.element(i));
  } else if (name == "TemplateProcessing") {
    add_template(node);
  } else if (name != "ByteLevel") {
    type.fail_expected("\"TemplateProcessing\", \"ByteLevel\" or \"Sequence\"");
  }
}

// Each template stands around what those before it made.
void PostProcessor::add_template(const JsonNode& node) {
  const JsonNode parts = node.at("single");
  std::vector<Token> before, behind;
  bool seen = false;
  for (std::size_t i = 0, count = parts.require_array(); i < count; ++i) {
    const JsonNode part = parts.element(i);
    if (const auto special = part.find("SpecialToken")) {
      append_special(node, special->at("id").string(), seen ? behind : before);
      continue;
    }
    const JsonNode id = part.at("Sequence").at("id");
    if (id.string() != "A" || seen) id.fail_expected("\"A\", once");
    seen = true;
  }
  if (!seen) parts.fail("the text itself is not in it");
  prefix_.insert(prefix_.begin(), before.begin(), before.end());
  suffix_.insert(suffix_.end(), behind.begin(), behind.end());
}

std::vector<Token> PostProcessor::apply(std::span<const Token> tokens) const {
  std::vector<Token> result = prefix_;
  result.insert(result.end(), tokens.begin(), tokens.end());
  result.insert(result.end(), suffix_.begin(), suffix_.end());
  return result;
}

Token PostProcessor::largest() const {
  Token largest = -1;
  for (const auto* tokens : {&prefix_, &suffix_}) {
    for (const Token token : *tokens)
      largest = std::max(largest, token);
  }
  return largest;
}

}  // namespace engine::model
