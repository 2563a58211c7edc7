#include "lane/grammar.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "lane/json_grammar.h"
#include "lane/live_lane.h"
#include "lane/reply_reader.h"

namespace engine::lane {
namespace {

using namespace testing;

struct Texts {
  Grammar grammar;
  Grammar::Rule root = 0;

  bool has(std::string_view text) const {
    Grammar::State state = grammar.begin(root);
    for (const char byte : text)
      state = grammar.after_byte(state, static_cast<unsigned char>(byte));
    return Grammar::may_end(state);
  }

  // Byte for byte at random; it ends as soon as it may, past `length` bytes.
  std::string random(std::mt19937& draw, std::size_t length) const {
    std::string text;
    for (Grammar::State state = grammar.begin(root);;) {
      if (Grammar::may_end(state) && (text.size() >= length || draw() % 3 == 0)) return text;
      std::vector<std::pair<char, Grammar::State>> next;
      for (int byte = 0; byte < 256; ++byte) {
        Grammar::State after = grammar.after_byte(state, static_cast<unsigned char>(byte));
        if (!after.empty()) next.emplace_back(static_cast<char>(byte), std::move(after));
      }
      if (next.empty()) return text;
      std::size_t chosen = draw() % next.size();
      const auto closing = std::ranges::find_if(next, [](const auto& byte) {
        return std::string_view("\"]}").find(byte.first) != std::string_view::npos;
      });
      if (text.size() >= length && closing != next.end())
        chosen = static_cast<std::size_t>(closing - next.begin());
      text += next[chosen].first;
      state = std::move(next[chosen].second);
    }
  }
};

Texts of_schema(const std::string& schema, bool lines = true) {
  Texts texts;
  JsonGrammar json(texts.grammar, lines);
  const ordered_json parsed = ordered_json::parse(schema);
  texts.root = json.schema(JsonField(parsed, "schema"));
  return texts;
}

TEST(JsonGrammar, AnObjectIsJson) {
  Texts texts;
  texts.root = JsonGrammar(texts.grammar, true).any_object();
  for (const char* text : {"{}", "{ }", R"({"a": 1})",
                           "{\n  \"a\": [\n    1, 2.5e-1, \"x\\n\\u00e9\\ud83d\\ude00é€😀\"\n  ]\n}",
                           R"({"":[{"b":null},[],[[]]],"c":true})"})
    EXPECT_TRUE(texts.has(text)) << text;
  for (const char* text :
       {"", "[]", "{", "1", R"({"a"})", R"({"a":01})", R"({"a":1,})", R"({a:1})", R"({"a":"\x"})",
        R"({"a":"\ud83d"})", "{\"a\":\"\xff\"}", "{\"a\":\"\n\"}", R"({"a":1}{)", "{}\n"})
    EXPECT_FALSE(texts.has(text)) << text;
  std::mt19937 draw(1);
  for (int i = 0; i < 100; ++i) {
    const std::string text = texts.random(draw, 200);
    EXPECT_TRUE(ordered_json::parse(text, nullptr, false).is_object()) << text;
  }
}

TEST(JsonGrammar, ASchemaSaysWhatIsAllowed) {
  const Texts texts = of_schema(
      R"({"type": "object", "required": ["b", "d"], "properties": {
          "a": {"type": "integer"}, "b": {"enum": ["x", 2, null, {"y": [1]}]}, "c": {"type": ["null", "boolean"]},
          "d": {"type": "array", "items": {"$ref": "#/$defs/e"}, "minItems": 1, "maxItems": 2}},
          "additionalProperties": false,
          "$defs": {"e": {"anyOf": [{"type": "string", "minLength": 1, "maxLength": 2},
                                     {"type": "object", "properties": {"e": {"$ref": "#/$defs/e"}}}]}}})");
  for (const char* text :
       {R"({"b":"x","d":["é"]})", R"({"a":-3,"b":2,"c":null,"d":[{},{"e":{"e":"q"}}]})",
        R"({"b": {"y": [1]}, "c": false, "d": ["ab"]})", R"({ "b": null, "d": ["ab"] })"})
    EXPECT_TRUE(texts.has(text)) << text;
  for (const char* text : {"{}", R"({"b":"x"})", R"({"d":["a"],"b":"x"})", R"({"b":"y","d":["a"]})",
                           R"({"b":"x","d":[]})", R"({"b":"x","d":["abc"]})",
                           R"({"b":"x","d":["a","b","c"]})", R"({"b":"x","d":["a"],"z":1})",
                           R"({"a":1.5,"b":"x","d":["a"]})", R"({,"b":"x","d":["a"]})"})
    EXPECT_FALSE(texts.has(text)) << text;
  EXPECT_TRUE(of_schema(R"({"properties": {"a": {}}, "additionalProperties": {"type": "null"}})")
                  .has(R"({"a":[1],"b":null,"c":null})"));
  EXPECT_TRUE(of_schema(R"({"properties": {"a": {}}, "additionalProperties": {"type": "null"}})")
                  .has(R"({"b":null})"));
  EXPECT_TRUE(of_schema("{}").has("3"));
  EXPECT_TRUE(of_schema(R"({"const": null})").has("null"));
}

TEST(JsonGrammar, RefusesWhatItCannotEnforce) {
  for (const char* schema :
       {R"({"pattern": "a"})", R"({"type": "any"})", R"({"minimum": 1})", R"({"$ref": "#"})",
        R"({"anyOf": [{"$ref": "#"}, {"type": "null"}]})", R"({"$ref": "http://a"})",
        R"({"$ref": "#/nowhere"})", R"({"enum": []})", R"({"required": ["a"]})",
        R"({"minItems": 3, "maxItems": 2, "type": "array"})",
        R"({"maxItems": 1000, "type": "array"})",
        R"({"type": "object", "properties": {"a": false}})"})
    EXPECT_THAT(fault_of([&] { (void)of_schema(schema); }), ::testing::StartsWith("400 schema"))
        << schema;
}

// What a request's rule lets through, chosen at random until a stop token.
std::vector<model::Token> random_reply(const GenerationRequest& request, std::mt19937& draw) {
  std::vector<model::Token> reply;
  const std::vector<model::Token>& stops = request.engine.params.stop_tokens;
  while (reply.size() < 400) {
    std::vector<float> logits(served_micro().model.config().vocabulary);
    for (float& logit : logits)
      logit = static_cast<float>(draw() % 1000);
    if (reply.size() > 30)  // towards an end
      for (const char closing : std::string_view("\"]}"))
        logits[static_cast<unsigned char>(closing)] += 1000;
    request.engine.params.sampling.rule(reply, logits);
    const auto best = std::ranges::max_element(logits) - logits.begin();
    EXPECT_GT(logits[static_cast<std::size_t>(best)], -1);
    if (std::ranges::find(stops, best) != stops.end()) return reply;
    reply.push_back(static_cast<model::Token>(best));
  }
  ADD_FAILURE() << "no end";
  return reply;
}

TEST(ReplyGrammar, ADemandedCallIsOneOfThoseOfferedInEveryNotation) {
  const std::string tools =
      R"({"messages": [{"role": "user", "content": "x"}], "tools": [{"type": "function", "function": {"name": "f",
          "parameters": {"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}}}}},
          {"type": "function", "function": {"name": "find", "parameters": {"type": "object", "properties": {}}}}],
          "tool_choice": )";
  std::mt19937 draw(2);
  for (const char* name : {"json", "llama3", "mistral", "deepseek"}) {
    Served served = served_micro();
    served.format = ToolFormat::named(name, served.model);
    for (const std::string choice :
         {"\"required\"", R"({"type": "function", "function": {"name": "f"}})"}) {
      const GenerationRequest request = chat_request(tools + choice + "}", served);
      for (int i = 0; i < 20; ++i) {
        ReplyReader reader(served, request, [] { return "id"; });
        std::vector<ToolCall> calls;
        std::string text;
        const auto take = [&](const ReplyDelta& delta) {
          calls.insert(calls.end(), delta.calls.begin(), delta.calls.end());
          text += delta.text;
        };
        for (const model::Token token : random_reply(request, draw))
          take(reader.push(token, {}));
        take(reader.finish());
        EXPECT_EQ(text, "") << name;
        ASSERT_EQ(calls.size(), 1u) << name;
        if (calls[0].name != "f") continue;
        const ordered_json arguments = ordered_json::parse(calls[0].arguments);
        EXPECT_TRUE(arguments.size() == 1 && arguments["n"].is_number_integer());
      }
    }
  }
}

TEST(ReplyGrammar, AFormatsReplyIsJsonOrACall) {
  const Served served = served_micro();
  const std::string chat =
      R"({"messages": [{"role": "user", "content": "x"}], "response_format": )";
  std::mt19937 draw(3);
  for (int i = 0; i < 20; ++i) {
    const GenerationRequest request = chat_request(chat + R"({"type": "json_object"}})", served);
    std::string text = served.model.tokenizer().decode(random_reply(request, draw));
    EXPECT_TRUE(ordered_json::parse(text, nullptr, false).is_object()) << text;
    const GenerationRequest with_tools = chat_request(
        chat +
            R"({"type": "json_schema", "json_schema": {"name": "n", "schema": {"type": "boolean"}}}, )" +
            kTools + "}",
        served);
    text = served.model.tokenizer().decode(random_reply(with_tools, draw));
    if (text == "true" || text == "false") continue;
    EXPECT_THAT(text, ::testing::StartsWith("<tool_call>\n{\"name\": \"read_file\""));
  }
}

TEST(ReplyGrammar, RefusesWhatItCannotKeepTo) {
  const Served served = served_micro();
  const auto fault = [&](const std::string& fields) {
    return fault_of([&] {
      (void)chat_request(R"({"messages": [{"role": "user", "content": "x"}], )" + fields + "}",
                         served);
    });
  };
  using ::testing::StartsWith;
  EXPECT_THAT(fault(R"("response_format": {"type": "xml"})"),
              StartsWith("400 response_format.type"));
  EXPECT_THAT(fault(R"("response_format": {"type": "json_schema", "json_schema": {"name": "n"}})"),
              StartsWith("400 response_format.json_schema.schema"));
  EXPECT_THAT(fault(R"("ignore_eos": true, "response_format": {"type": "json_object"})"),
              StartsWith("400 ignore_eos"));
  EXPECT_THAT(
      fault(
          R"("tools": [{"type": "function", "function": {"name": "f", "strict": true, "parameters": {"pattern": "a"}}}],
             "tool_choice": "required")"),
      StartsWith("400 tools[0].function.parameters"));
}

// The drafter and what is kept from the turn before change nothing of a reply that is kept to a
// form.
TEST(ReplyGrammar, ACachedTurnEqualsAColdOne) {
  const LiveLane lane;
  ordered_json body = user_says("Tell me", 40);
  body["response_format"] = {{"type", "json_object"}};
  body["temperature"] = 1;
  body["seed"] = 3;
  const ordered_json cold = lane.post_json(kChat, body).json["choices"];
  EXPECT_TRUE(cold[0]["message"]["content"].get<std::string>().starts_with('{'));
  EXPECT_EQ(lane.post_json(kChat, body).json["choices"], cold);
  EXPECT_EQ(LiveLane().post_json(kChat, body).json["choices"], cold);
  const GenerationRequest request = chat_request(body.dump(), served_micro());
  std::vector<std::vector<model::Token>> replies;
  for (const std::size_t drafts : {0, 3, 7}) {
    GenerationRequest drafted = request;
    drafted.engine.params.draft_tokens = drafts;
    runtime::Engine engine = runtime::testing::SmallEngine{}.make();
    replies.push_back(engine.run(drafted.engine).tokens);
  }
  EXPECT_EQ(replies[0], replies[1]);
  EXPECT_EQ(replies[0], replies[2]);
}

}  // namespace
}  // namespace engine::lane
