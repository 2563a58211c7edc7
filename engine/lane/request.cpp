#include "lane/request.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <random>

#include "lane/chat.h"
#include "lane/logit_rules.h"
#include "lane/reply_grammar.h"
#include "lane/request_fields.h"

namespace engine::lane {
namespace {

constexpr std::int64_t kMostTokens = 1 << 24;
constexpr std::size_t kMostStops = 16;
constexpr std::int64_t kMostAlternatives = 20;
constexpr std::int64_t kMostChoices = 16;

std::uint64_t read_seed(const JsonField& body) {
  if (const auto seed = body.find("seed"))
    return static_cast<std::uint64_t>(seed->integer(INT64_MIN, INT64_MAX));
  std::random_device device;
  return std::uint64_t{device()} << 32 | device();
}

runtime::SamplingParams read_sampling(const JsonField& body) {
  runtime::SamplingParams sampling;
  sampling.temperature = 1;
  if (const auto field = body.find("temperature"))
    sampling.temperature = static_cast<float>(field->number(0, 100));
  if (const auto field = body.find("top_p")) {
    sampling.top_p = static_cast<float>(field->number(0, 1));
    if (!(sampling.top_p > 0)) field->fail("expected a number above 0, at most 1");
  }
  if (const auto field = body.find("top_k"))  // -1 is what some clients send for "all"
    sampling.top_k =
        static_cast<std::size_t>(std::max<std::int64_t>(0, field->integer(-1, kMostTokens)));
  if (const auto field = body.find("min_p"))
    sampling.min_p = static_cast<float>(field->number(0, 1));
  sampling.seed = read_seed(body);
  return sampling;
}

// {"TOKEN ID": -100 to 100, ...}.
std::vector<std::pair<model::Token, float>> read_bias(const JsonField& field,
                                                      const Served& served) {
  std::vector<std::pair<model::Token, float>> bias;
  field.require_object();
  const std::size_t vocabulary = served.model.config().vocabulary;
  for (const auto& [key, value] : field.value().items()) {
    std::size_t token = 0;
    const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), token);
    if (error != std::errc() || end != key.data() + key.size() || token >= vocabulary)
      field.fail(fmt::format("\"{}\" is no token id below {}", key, vocabulary));
    bias.emplace_back(static_cast<model::Token>(token),
                      static_cast<float>(field.at(key).number(-100, 100)));
  }
  return bias;
}

float read_penalty(const JsonField& body, const char* name, double least, double most,
                   double neutral) {
  const auto field = body.find(name);
  return static_cast<float>(field ? field->number(least, most) : neutral);
}

LogitChanges read_changes(const JsonField& body, const Served& served,
                          const GenerationRequest& request) {
  LogitChanges changes;
  constexpr double kLeast = 0.01, kMost = 100;
  for (const char* name : {"repeat_penalty", "repetition_penalty"})
    if (body.find(name)) changes.repetition = read_penalty(body, name, kLeast, kMost, 1);
  changes.presence = read_penalty(body, "presence_penalty", -2, 2, 0);
  changes.frequency = read_penalty(body, "frequency_penalty", -2, 2, 0);
  if (const auto bias = body.find("logit_bias")) changes.bias = read_bias(*bias, served);
  // The model's own stop tokens are never chosen, so that a reply fills its room.
  if (const auto ignored = body.find("ignore_eos"); ignored && ignored->boolean()) {
    for (const model::Token stop : served.model.config().stop_tokens)
      changes.bias.emplace_back(stop, -std::numeric_limits<float>::infinity());
  }
  if (const auto least = body.find("min_tokens")) {
    const auto most = static_cast<std::int64_t>(request.engine.params.max_tokens);
    changes.min_tokens = static_cast<std::size_t>(least->integer(0, most));
    if (changes.min_tokens > 0 && !request.stop.empty())
      least->fail("not together with stop, whose texts may come earlier");
  }
  return changes;
}

// The model's own and the request's.
std::vector<model::Token> read_stop_tokens(const JsonField& body, const Served& served) {
  std::vector<model::Token> tokens = served.model.config().stop_tokens;
  const auto field = body.find("stop_token_ids");
  if (!field) return tokens;
  const auto last = static_cast<std::int64_t>(served.model.config().vocabulary) - 1;
  for (const JsonField& id : field->elements())
    tokens.push_back(static_cast<model::Token>(id.integer(0, last)));
  return tokens;
}

std::vector<std::string> read_stop(const JsonField& body) {
  std::vector<std::string> stop;
  const std::optional<JsonField> field = body.find("stop");
  if (!field) return stop;
  if (field->value().is_string()) {
    stop.push_back(field->string());
  } else {
    for (const JsonField& text : field->elements())
      stop.push_back(text.string());
  }
  if (stop.size() > kMostStops) field->fail(fmt::format("at most {} texts", kMostStops));
  if (std::ranges::find(stop, "") != stop.end()) field->fail("a stop text is empty");
  return stop;
}

// Of the two names the newer one counts.
std::size_t read_max_tokens(const JsonField& body, const Served& served, std::int64_t least) {
  for (const char* name : {"max_completion_tokens", "max_tokens"}) {
    if (const auto field = body.find(name))
      return static_cast<std::size_t>(field->integer(least, kMostTokens));
  }
  return served.context;
}

GenerationRequest read_common(const JsonField& body, const Served& served,
                              std::int64_t least_tokens) {
  if (const auto name = body.find("model")) check_model(name->string(), served);
  GenerationRequest request;
  request.engine.params = served.defaults;
  request.engine.params.max_tokens = read_max_tokens(body, served, least_tokens);
  request.engine.params.sampling = read_sampling(body);
  request.engine.params.stop_tokens = read_stop_tokens(body, served);
  request.stop = read_stop(body);
  if (const auto n = body.find("n"))
    request.choices = static_cast<std::size_t>(n->integer(1, kMostChoices));
  if (const auto stream = body.find("stream")) request.stream = stream->boolean();
  if (const auto options = body.find("stream_options")) {
    if (!request.stream) options->fail("only with \"stream\": true");
    options->allow_only({"include_usage", "include_obfuscation"});
    if (const auto usage = options->find("include_usage")) request.include_usage = usage->boolean();
  }
  return request;
}

void check_length(const GenerationRequest& request, const Served& served, std::string_view field) {
  const std::size_t tokens = request.engine.prompt.size();
  if (tokens == 0) throw ApiError(400, "the prompt is empty", std::string(field));
  if (tokens <= served.context) return;
  throw ApiError(
      400, fmt::format("the prompt has {} tokens, the context holds {}", tokens, served.context),
      std::string(field), "context_length_exceeded");
}

// Whether the prompt ends with the mark where thoughts begin.
bool begins_thoughts(const std::vector<model::Token>& prompt, const Served& served) {
  if (!served.thoughts) return false;
  constexpr std::size_t kLooked = 16;
  const std::size_t kept = std::min(kLooked, prompt.size());
  std::string end = served.model.tokenizer().decode(std::span(prompt).last(kept));
  end.erase(end.find_last_not_of(" \n") + 1);
  return end.ends_with(served.thoughts->begin);
}

// What ends the thoughts that the prompt began.
std::string end_of_thoughts(GenerationRequest& request, const Served& served) {
  return std::exchange(request.thinking, false) ? served.thoughts->end + "\n\n" : "";
}

// With continue_final_message the assistant's last message is taken off the conversation: the reply
// goes on with it. add_generation_prompt may leave the assistant's turn unopened.
std::optional<std::string> read_begun_message(const JsonField& body,
                                              model::Conversation& conversation) {
  const auto prompted = body.find("add_generation_prompt");
  if (prompted) conversation.add_generation_prompt = prompted->boolean();
  const auto continued = body.find("continue_final_message");
  if (!continued || !continued->boolean()) return std::nullopt;
  if (prompted && prompted->boolean()) prompted->fail("not together with continue_final_message");
  const model::Message last = conversation.messages.back();
  if (last.role != "assistant" || !last.calls.empty() || conversation.messages.size() < 2)
    continued->fail("the last message must be a text of the assistant's, and not the first");
  conversation.messages.pop_back();
  conversation.add_generation_prompt = true;
  return last.content;
}

// The text stands in the prompt as the assistant's own; special tokens' text in it is text.
void begin_message(GenerationRequest& request, const Served& served, const std::string& said) {
  const std::string before = end_of_thoughts(request, served);
  const std::string text = before + said;
  const model::TextRange literal{before.size(), text.size()};
  const auto tokens = served.model.tokenizer().encode(text, {&literal, 1});
  request.engine.prompt.insert(request.engine.prompt.end(), tokens.begin(), tokens.end());
}

void end_thoughts(GenerationRequest& request, const Served& served) {
  const auto tokens = served.model.tokenizer().encode(end_of_thoughts(request, served),
                                                      model::SpecialText::kIsToken);
  request.engine.prompt.insert(request.engine.prompt.end(), tokens.begin(), tokens.end());
}

// Where a call is demanded the prompt begins it, and the model can only go on with it; thoughts
// that the prompt began end before.
void begin_call(GenerationRequest& request, const Served& served,
                const std::optional<std::string>& name) {
  const ToolFormat& format = *served.format;
  std::string text = end_of_thoughts(request, served);
  text += format.lead + format.begin;
  const std::string opening = format.opening(name);
  const model::TextRange literal{text.size() + format.before_name.size(),
                                 name ? text.size() + opening.size() - format.after_name.size()
                                      : text.size() + format.before_name.size()};
  const auto tokens = served.model.tokenizer().encode(text + opening, {&literal, 1});
  request.engine.prompt.insert(request.engine.prompt.end(), tokens.begin(), tokens.end());
  request.begun_call = opening;
}

struct Tools {
  std::optional<JsonField> list;
  bool demanded = false;            // a call must come
  std::optional<std::string> name;  // of this tool
};

Tools read_tools(const JsonField& body, const Served& served) {
  Tools tools{.list = body.find("tools"), .name = {}};
  const std::optional<JsonField> choice = body.find("tool_choice");
  const std::vector<std::string> names =
      tools.list ? tool_names(*tools.list) : std::vector<std::string>();
  const bool none = choice && choice->value() == "none";
  if (names.empty()) {
    tools.list.reset();
    if (choice && !none && choice->value() != "auto") choice->fail("there are no tools to choose");
    return tools;
  }
  if (!served.format) tools.list->fail("this model has no notation for tool calls");
  if (none) tools.list.reset();
  if (none || !choice || choice->value() == "auto") return tools;
  if (choice->value() == "required") {
    tools.demanded = true;
    return tools;
  }
  if (!choice->value().is_object())
    choice->fail_expected(R"("none", "auto", "required" or a tool)");
  choice->allow_only({"type", "function"});
  if (const auto type = choice->find("type"); type && type->string() != "function")
    type->fail_expected("\"function\"");
  choice->at("function").allow_only({"name"});
  const JsonField name = choice->at("function").at("name");
  if (std::ranges::find(names, name.string()) == names.end())
    name.fail(fmt::format("there is no tool \"{}\"", name.string()));
  tools.demanded = true;
  tools.name = name.string();
  return tools;
}

// A reply that must keep to a form needs a token that ends it.
void check_can_end(const JsonField& body, const GenerationRequest& request) {
  for (const char* name : {"ignore_eos", "min_tokens"}) {
    if (const auto field = body.find(name); field && field->value() != false && field->value() != 0)
      field->fail("not together with response_format or a demanded tool_choice");
  }
  if (request.engine.params.stop_tokens.empty())
    throw ApiError(400, "this model has no token that ends a reply", "response_format");
}

runtime::LogitsRule both(runtime::LogitsRule first, runtime::LogitsRule second) {
  if (!first || !second) return first ? first : second;
  return [first = std::move(first), second = std::move(second)](std::span<const model::Token> reply,
                                                                std::span<float> logits) {
    first(reply, logits);
    second(reply, logits);
  };
}

void keep_logprobs(GenerationRequest& request, std::int64_t alternatives) {
  request.top_logprobs = static_cast<std::size_t>(alternatives);
}

}  // namespace

void check_model(std::string_view name, const Served& served) {
  if (name == served.name || std::ranges::find(served.aliases, name) != served.aliases.end())
    return;
  throw ApiError(404, fmt::format("there is no model \"{}\" here, only \"{}\"", name, served.name),
                 "model", "model_not_found");
}

GenerationRequest read_chat(const JsonField& body, const Served& served) {
  check_fields(body, Endpoint::kChat);
  GenerationRequest request = read_common(body, served, 1);
  request.chat = true;
  const Tools tools = read_tools(body, served);
  request.conversation = read_conversation(body);
  if (!tools.list) request.conversation.tools.clear();
  const std::optional<std::string> begun = read_begun_message(body, request.conversation);
  request.tools = tools.list.has_value();
  if (request.tools) request.tool_list = tools.list->value();
  if (const auto parallel = body.find("parallel_tool_calls"))
    request.one_call = !parallel->boolean();
  request.engine.prompt = encode_conversation(served.model, request.conversation);
  request.thinking = begins_thoughts(request.engine.prompt, served);
  if (begun && tools.demanded)
    body.at("continue_final_message").fail("not together with a demanded tool_choice");
  if (begun) begin_message(request, served, *begun);
  const ReplyFormat format = read_reply_format(body);
  if (format.json) end_thoughts(request, served);
  if (tools.demanded) begin_call(request, served, tools.name);
  check_length(request, served, "messages");
  const LogitChanges changes = read_changes(body, served, request);
  request.engine.params.sampling.rule =
      both(rule_of(changes, request.engine),
           reply_rule(format, tools.list, tools.name, request, served));
  if (format.json || tools.demanded) check_can_end(body, request);
  const auto wanted = body.find("logprobs");
  const auto top = body.find("top_logprobs");
  if (wanted && wanted->boolean())
    keep_logprobs(request, top ? top->integer(0, kMostAlternatives) : 0);
  else if (top)
    top->fail("only with \"logprobs\": true");
  return request;
}

GenerationRequest read_completion(const JsonField& body, const Served& served) {
  check_fields(body, Endpoint::kCompletion);
  GenerationRequest request = read_common(body, served, 0);
  if (const auto echo = body.find("echo")) request.echo = echo->boolean();
  request.engine.prompt = read_tokens(body.at("prompt"), served);
  check_length(request, served, "prompt");
  request.engine.params.sampling.rule =
      rule_of(read_changes(body, served, request), request.engine);
  if (const auto top = body.find("logprobs"))
    keep_logprobs(request, top->integer(0, kMostAlternatives));
  return request;
}

std::vector<model::Token> read_tokens(const JsonField& field, const Served& served) {
  if (field.value().is_string()) return served.model.tokenizer().encode_prompt(field.string());
  if (!field.value().is_array()) field.fail_expected("a text or an array of token ids");
  const std::vector<JsonField> elements = field.elements();
  if (elements.size() == 1 && !elements[0].value().is_number())
    return read_tokens(elements[0], served);
  std::vector<model::Token> tokens;
  const auto last = static_cast<std::int64_t>(served.model.config().vocabulary) - 1;
  for (const JsonField& element : elements) {
    if (!element.value().is_number()) element.fail("several prompts; a request has one");
    tokens.push_back(static_cast<model::Token>(element.integer(0, last)));
  }
  return tokens;
}

}  // namespace engine::lane
