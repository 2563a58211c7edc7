// /v1/responses: a chat in other words, and the events that its clients put together.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lane/live_lane.h"
#include "lane/responses_request.h"
#include "lane/responses_writer.h"

namespace engine::lane {
namespace {

using namespace testing;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

const std::string kResponses = "/v1/responses";

GenerationRequest response_request(const std::string& body, const Served& served) {
  const ordered_json json = parse_body(body);
  return read_response(JsonField(json), served);
}

const std::string kTool =
    R"("tools": [{"type": "function", "name": "read_file", "strict": null, "parameters":
       {"type": "object", "properties": {"path": {"type": "string"}}}}])";

TEST(ReadResponse, IsTheChatThatSaysTheSame) {
  const Served served = served_micro();
  const std::string chat = R"({"messages": [
      {"role": "system", "content": "Work."},
      {"role": "user", "content": "ab"},
      {"role": "assistant", "content": "See.", "reasoning_content": "Hm.", "tool_calls": [
        {"id": "c1", "type": "function", "function": {"name": "read_file", "arguments": "{\"path\":\"a\"}"}},
        {"id": "c2", "type": "function", "function": {"name": "read_file", "arguments": "{}"}}]},
      {"role": "tool", "tool_call_id": "c1", "content": "x"},
      {"role": "tool", "tool_call_id": "c2", "content": "y"},
      {"role": "assistant", "content": null, "tool_calls": [
        {"id": "c3", "type": "function", "function": {"name": "read_file", "arguments": "{}"}}]},
      {"role": "tool", "tool_call_id": "c3", "content": "z"}],
      "max_tokens": 7, "temperature": 0, )" +
                           kTools + "}";
  const std::string response = R"({"instructions": "Work.", "input": [
      {"role": "user", "content": [{"type": "input_text", "text": "a"}, {"type": "input_text", "text": "b"}]},
      {"type": "reasoning", "id": "rs_1", "summary": [], "content": [{"type": "reasoning_text", "text": "Hm."}]},
      {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content":
        [{"type": "output_text", "text": "See.", "annotations": [], "logprobs": []}]},
      {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "read_file", "arguments": "{\"path\":\"a\"}"},
      {"type": "function_call", "call_id": "c2", "name": "read_file", "arguments": "{}", "status": "completed"},
      {"type": "function_call_output", "call_id": "c1", "output": "x"},
      {"type": "function_call_output", "call_id": "c2", "output": [{"type": "input_text", "text": "y"}]},
      {"type": "function_call", "call_id": "c3", "name": "read_file", "arguments": "{}"},
      {"type": "function_call_output", "call_id": "c3", "output": "z"}],
      "max_output_tokens": 7, "temperature": 0, "store": false, "include": [], "truncation": "disabled",
      "reasoning": {"effort": null}, "previous_response_id": null, )" +
                               kTool + "}";
  const GenerationRequest one = chat_request(chat, served);
  const GenerationRequest other = response_request(response, served);
  EXPECT_EQ(served.model.tokenizer().decode(one.engine.prompt),
            served.model.tokenizer().decode(other.engine.prompt));
  EXPECT_EQ(one.engine.prompt, other.engine.prompt);
  EXPECT_EQ(other.engine.params.max_tokens, 7u);
  EXPECT_EQ(other.repeated["tools"][0]["strict"], nullptr);
  EXPECT_EQ(
      response_request(R"({"input": "ab"})", served).engine.prompt,
      chat_request(R"({"messages": [{"role": "user", "content": "ab"}]})", served).engine.prompt);
}

TEST(ReadResponse, KeepsToAFormatAndToADemandedCall) {
  const Served served = served_micro();
  EXPECT_TRUE(response_request(R"({"input": "x", "text": {"format": {"type": "json_schema",
      "name": "n", "strict": true, "schema": {"type": "object"}}}})",
                               served)
                  .engine.params.sampling.rule);
  EXPECT_TRUE(response_request(R"({"input": "x", "tool_choice": {"type": "function", "name":
      "read_file"}, )" + kTool + "}",
                               served)
                  .begun_call);
  EXPECT_TRUE(
      response_request(R"({"input": "x", "tool_choice": "required", )" + kTool + "}", served)
          .begun_call);
}

TEST(ReadResponse, RefusesByItsOwnNames) {
  const Served served = served_micro();
  const std::vector<std::pair<std::string, std::string>> cases{
      {R"("input": [])", "400 input: input: at least one item"},
      {R"("instructions": "x")", "400 input: \"input\" is missing"},
      {R"("input": "x", "previous_response_id": "resp_1")",
       "400 previous_response_id: previous_response_id: this server stores no responses"},
      {R"("input": "x", "conversation": "c")", "400 conversation"},
      {R"("input": "x", "store": true)", "400 store: store: this server stores no responses"},
      {R"("input": "x", "background": true)", "400 background"},
      {R"("input": "x", "truncation": "auto")", "400 truncation"},
      {R"("input": "x", "include": ["reasoning.encrypted_content"])", "400 include"},
      {R"("input": "x", "reasoning": {"effort": "high"})", "400 reasoning.effort"},
      {R"("input": "x", "text": {"verbosity": "low"})", "400 text.verbosity"},
      {R"("input": "x", "text": {"format": {"type": "xml"}})", "400 text.format.type: text.format"},
      {R"("input": "x", "text": {"format": {"type": "json_schema", "schema": {"allOf": []}}})",
       "400 text.format.schema: text.format.schema"},
      {R"("input": "x", "messages": [])", "400 messages"},
      {R"("input": "x", "max_tokens": 1)", "400 max_tokens"},
      {R"("input": "x", "max_output_tokens": 0)", "400 max_output_tokens: max_output_tokens:"},
      {R"("input": "x", "temperature": -1)", "400 temperature"},
      {R"("input": "x", "tools": [{"type": "web_search"}])", "400 tools[0].type"},
      {R"("input": "x", "tools": [{"type": "function", "name": ""}])",
       "400 tools[0].name: tools[0]"},
      {R"("input": "x", "tools": [{"type": "function", "name": "f", "x": 1}])", "400 tools[0].x"},
      {R"("input": "x", "tool_choice": {"type": "function", "name": "g"}, )" + kTool,
       "400 tool_choice.name: tool_choice.name"},
      {R"("input": [{"role": "robot", "content": "x"}])", "400 input[0].role: input[0].role"},
      {R"("input": [{"role": "user", "content": "x", "name": "n"}])", "400 input[0].name"},
      {R"("input": [{"role": "user", "content": [{"type": "input_image"}]}])",
       "400 input[0].content[0].type"},
      {R"("input": [{"type": "item_reference", "id": "x"}])", "400 input[0].type"},
      {R"("input": [{"type": "reasoning", "summary": [], "encrypted_content": "x"}])",
       "400 input[0].encrypted_content"},
      {R"("input": [{"type": "function_call_output", "call_id": "c", "output": "x"}])",
       "400 input[0].tool_call_id: input[0]"},
      {R"("input": [{"type": "function_call", "call_id": "c", "name": "f", "arguments": "["}])",
       "400 input[0].arguments: input[0].arguments"},
  };
  for (const auto& [fields, fault] : cases)
    EXPECT_THAT(fault_of([&] { (void)response_request("{" + fields + "}", served); }),
                StartsWith(fault))
        << fields;
}

std::vector<std::string> types_of(const std::vector<ordered_json>& events) {
  std::vector<std::string> types;
  for (const ordered_json& event : events) {
    const std::string type =
        event["type"].get<std::string>().substr(std::string("response.").size());
    if (types.empty() || types.back() != type) types.push_back(type);
  }
  return types;
}

TEST(Responses, AStreamIsTheWholeResponseInEvents) {
  const LiveLane lane;
  ordered_json body{{"input", "Tell me"}, {"max_output_tokens", 12}, {"temperature", 0}};
  ordered_json whole = lane.post_json(kResponses, body).json;
  ASSERT_EQ(whole["object"], "response") << whole;
  EXPECT_EQ(whole["status"], "incomplete");
  EXPECT_EQ(whole["incomplete_details"]["reason"], "max_output_tokens");
  EXPECT_EQ(whole["usage"]["output_tokens"], 12);
  EXPECT_EQ(whole["output"][0]["type"], "message");
  const std::string said = whole["output"][0]["content"][0]["text"];
  EXPECT_EQ(
      said,
      lane.post_json(kChat, user_says("Tell me", 12)).json["choices"][0]["message"]["content"]);
  body["stream"] = true;
  const std::string stream = lane.post_json(kResponses, body).body;
  EXPECT_THAT(stream, StartsWith("event: response.created\ndata: {\"type\":\"response.created\""));
  EXPECT_THAT(stream, ::testing::Not(HasSubstr("[DONE]")));
  const std::vector<ordered_json> events = events_of(stream);
  EXPECT_THAT(types_of(events),
              ElementsAre("created", "in_progress", "output_item.added", "content_part.added",
                          "output_text.delta", "output_text.done", "content_part.done",
                          "output_item.done", "incomplete"));
  std::string text;
  for (std::size_t i = 0; i < events.size(); ++i) {
    EXPECT_EQ(events[i]["sequence_number"], i);
    text += events[i].value("delta", "");
  }
  EXPECT_EQ(text, said);
  ordered_json last = events.back()["response"];
  for (ordered_json* response : {&whole, &last}) {
    for (const char* name : {"id", "created_at", "timings", "usage"})
      response->erase(name);
    (*response)["output"][0].erase("id");
  }
  EXPECT_EQ(last, whole);
}

TEST(Responses, ThoughtsAMessageAndCallsAreItems) {
  const Served served = served_micro();
  const GenerationRequest request = response_request(R"({"input": "x", )" + kTool + "}", served);
  Outcome outcome;
  outcome.finish = Finish::kToolCalls;
  outcome.reply.reasoning = "Hm.";
  outcome.reply.text = "See.";
  outcome.reply.calls = {{"c1", "read_file", "{\"path\": \"a\"}"}, {"c2", "read_file", "{}"}};
  ResponsesWriter writer(served, request, "resp_1", 5);
  std::string stream = writer.begin(0);
  ReplyDelta thought, text, calls;
  thought.reasoning = "Hm.";
  text.text = "See.";
  calls.calls = outcome.reply.calls;
  for (const ReplyDelta& delta : {thought, text, calls})
    stream += writer.add(delta);
  stream += writer.end(outcome);
  stream += writer.close({&outcome, 1});
  const std::vector<ordered_json> events = events_of(stream);
  EXPECT_THAT(types_of(events),
              ElementsAre("created", "in_progress", "output_item.added", "content_part.added",
                          "reasoning_text.delta", "reasoning_text.done", "content_part.done",
                          "output_item.done", "output_item.added", "content_part.added",
                          "output_text.delta", "output_text.done", "content_part.done",
                          "output_item.done", "output_item.added", "function_call_arguments.delta",
                          "function_call_arguments.done", "output_item.done", "output_item.added",
                          "function_call_arguments.delta", "function_call_arguments.done",
                          "output_item.done", "completed"));
  const ordered_json output = events.back()["response"]["output"];
  ASSERT_EQ(output.size(), 4u);
  EXPECT_EQ(output[0]["content"][0]["text"], "Hm.");
  EXPECT_EQ(output[1]["content"][0]["text"], "See.");
  EXPECT_EQ(output[2]["arguments"], "{\"path\": \"a\"}");
  EXPECT_EQ(output[3]["call_id"], "c2");
  for (const ordered_json& item : output)
    EXPECT_EQ(item["status"], "completed");
  ordered_json whole = ResponsesWriter(served, request, "resp_1", 5).whole({&outcome, 1});
  for (std::size_t i = 0; i < 4; ++i) {
    whole["output"][i]["id"] = output[i]["id"];
    EXPECT_EQ(whole["output"][i], output[i]);
  }
}

TEST(Responses, AReplyOfNothingIsAnEmptyMessage) {
  const Served served = served_micro();
  const GenerationRequest request = response_request(R"({"input": "x"})", served);
  const Outcome outcome;
  const ordered_json whole = ResponsesWriter(served, request, "resp_1", 5).whole({&outcome, 1});
  EXPECT_EQ(whole["status"], "completed");
  EXPECT_EQ(whole["output"][0]["content"][0]["text"], "");
}

TEST(Responses, AreNotStored) {
  const LiveLane lane;
  for (const char* path : {"/v1/responses/resp_1", "/v1/conversations"}) {
    const Answer answer = lane.get(path);
    EXPECT_EQ(answer.status, 404);
    EXPECT_EQ(answer.json["error"]["code"], "unsupported") << path;
  }
  EXPECT_EQ(lane.post_json("/v1/responses/resp_1/cancel", {}).status, 404);
  EXPECT_EQ(lane.get(kResponses).status, 405);
}

}  // namespace
}  // namespace engine::lane
