#include "lane/model_endpoints.h"

#include "lane/chat.h"

namespace engine::lane {

using nlohmann::ordered_json;

ordered_json tokenize(const JsonField& body, const Served& served) {
  body.allow_only(
      {"model", "content", "prompt", "messages", "tools", "documents", "chat_template_kwargs"});
  if (const auto name = body.find("model")) check_model(name->string(), served);
  std::vector<model::Token> tokens;
  if (body.find("messages")) {
    tokens = encode_conversation(served.model, read_conversation(body));
  } else if (const auto prompt = body.find("prompt")) {
    tokens = read_tokens(*prompt, served);
  } else {
    tokens = read_tokens(body.at("content"), served);
  }
  return {{"tokens", tokens}, {"count", tokens.size()}, {"max_model_len", served.context}};
}

ordered_json detokenize(const JsonField& body, const Served& served) {
  body.allow_only({"model", "tokens"});
  if (const auto name = body.find("model")) check_model(name->string(), served);
  const JsonField tokens = body.at("tokens");
  if (!tokens.value().is_array()) tokens.fail_expected("an array of token ids");
  return {{"content", served.model.tokenizer().decode(read_tokens(tokens, served))}};
}

ordered_json show_model(std::string_view name, const Served& served) {
  check_model(name, served);
  return {{"id", name},
          {"object", "model"},
          {"created", 0},
          {"owned_by", "local"},
          {"max_model_len", served.context}};
}

ordered_json list_models(const Served& served) {
  ordered_json models = ordered_json::array({show_model(served.name, served)});
  for (const std::string& alias : served.aliases)
    models.push_back(show_model(alias, served));
  return {{"object", "list"}, {"data", models}};
}

}  // namespace engine::lane
