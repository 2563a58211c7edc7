#include "lane/responses_writer.h"

#include <utility>

#include "lane/response.h"
#include "lane/service.h"

namespace engine::lane {

using nlohmann::ordered_json;

ResponsesWriter::ResponsesWriter(const Served& served, const GenerationRequest& request,
                                 std::string id, std::int64_t created)
    : served_(served), request_(request), id_(std::move(id)), created_(created) {}

void ResponsesWriter::event(const std::string& type, const ordered_json& fields) {
  ordered_json json{{"type", type}};
  json.update(fields);
  json["sequence_number"] = events_++;
  text_ += "event: " + type + "\n" + event_text(json);
}

ordered_json ResponsesWriter::response(const char* status) const {
  ordered_json json{{"id", id_},
                    {"object", "response"},
                    {"created_at", created_},
                    {"status", status},
                    {"background", false},
                    {"error", nullptr},
                    {"incomplete_details", nullptr},
                    {"model", served_.name},
                    {"output", output_},
                    {"previous_response_id", nullptr},
                    {"reasoning", {{"effort", nullptr}, {"summary", nullptr}}},
                    {"service_tier", nullptr},
                    {"store", false},
                    {"truncation", "disabled"},
                    {"usage", nullptr}};
  json.update(request_.repeated);
  return json;
}

ordered_json ResponsesWriter::ended(std::span<const Outcome> choices) const {
  const Outcome& outcome = choices.front();
  const bool cut = outcome.finish == Finish::kLength;
  const Usage usage = usage_of(choices);
  ordered_json json = response(cut ? "incomplete" : "completed");
  if (cut) json["incomplete_details"] = {{"reason", "max_output_tokens"}};
  json["usage"] = {
      {"input_tokens", usage.prompt},
      {"input_tokens_details", {{"cached_tokens", usage.cached}, {"cache_write_tokens", 0}}},
      {"output_tokens", usage.completion},
      {"output_tokens_details", {{"reasoning_tokens", usage.reasoning}}},
      {"total_tokens", usage.prompt + usage.completion}};
  json["timings"] = timings_json(outcome, served_.grid);
  return json;
}

std::string ResponsesWriter::begin(std::size_t) {
  const ordered_json fields{{"response", response("in_progress")}};
  event("response.created", fields);
  event("response.in_progress", fields);
  return std::exchange(text_, {});
}

std::string ResponsesWriter::add(const ReplyDelta& delta) {
  if (!delta.reasoning.empty()) say(Item::kThoughts, delta.reasoning);
  if (!delta.text.empty()) say(Item::kMessage, delta.text);
  for (const ToolCall& made : delta.calls)
    call(made);
  return std::exchange(text_, {});
}

std::string ResponsesWriter::end(const Outcome& outcome) {
  if (output_.empty()) open(Item::kMessage);
  shut(outcome.finish == Finish::kLength ? "incomplete" : "completed");
  return std::exchange(text_, {});
}

std::string ResponsesWriter::close(std::span<const Outcome> choices) {
  const ordered_json json = ended(choices);
  event("response." + json["status"].get<std::string>(), {{"response", json}});
  return std::exchange(text_, {});
}

std::string ResponsesWriter::fail(const ApiError& error) {
  ordered_json json = response("failed");
  json["error"] = {{"code", "server_error"}, {"message", error.what()}};
  event("response.failed", {{"response", json}});
  return std::exchange(text_, {});
}

ordered_json ResponsesWriter::whole(std::span<const Outcome> choices) {
  add(choices.front().reply);
  end(choices.front());
  return ended(choices);
}

ordered_json ResponsesWriter::item() const {
  return {{"item_id", output_.back()["id"]}, {"output_index", output_.size() - 1}};
}

ordered_json ResponsesWriter::part() const {
  ordered_json fields = item();
  fields["content_index"] = 0;
  return fields;
}

void ResponsesWriter::open(Item item) {
  if (open_ == item) return;
  shut("completed");
  open_ = item;
  ordered_json entry, content;
  if (item == Item::kThoughts) {
    entry = {{"id", new_id("rs_")}, {"type", "reasoning"}, {"status", "in_progress"}};
    entry["summary"] = ordered_json::array();
    content = {{"type", "reasoning_text"}, {"text", ""}};
  } else {
    entry = {{"id", new_id("msg_")}, {"type", "message"}, {"status", "in_progress"}};
    entry["role"] = "assistant";
    content = {{"type", "output_text"}, {"text", ""}};
    content["annotations"] = content["logprobs"] = ordered_json::array();
  }
  entry["content"] = ordered_json::array();
  output_.push_back(entry);
  event("response.output_item.added", {{"output_index", output_.size() - 1}, {"item", entry}});
  output_.back()["content"].push_back(content);
  ordered_json added = part();
  added["part"] = content;
  event("response.content_part.added", added);
}

void ResponsesWriter::say(Item item, const std::string& said) {
  open(item);
  ordered_json& whole = output_.back()["content"][0]["text"];
  whole = whole.get<std::string>() + said;
  ordered_json fields = part();
  fields["delta"] = said;
  if (item == Item::kThoughts) return event("response.reasoning_text.delta", fields);
  fields["logprobs"] = ordered_json::array();
  event("response.output_text.delta", fields);
}

void ResponsesWriter::shut(const char* status) {
  if (open_ == Item::kNone) return;
  ordered_json& entry = output_.back();
  entry["status"] = status;
  const ordered_json& content = entry["content"][0];
  ordered_json said = part(), done = said;
  said["text"] = content["text"];
  done["part"] = content;
  if (open_ == Item::kThoughts) {
    event("response.reasoning_text.done", said);
  } else {
    said["logprobs"] = ordered_json::array();
    event("response.output_text.done", said);
  }
  open_ = Item::kNone;
  event("response.content_part.done", done);
  event("response.output_item.done", {{"output_index", output_.size() - 1}, {"item", entry}});
}

void ResponsesWriter::call(const ToolCall& call) {
  shut("completed");
  ordered_json entry{{"id", new_id("fc_")}, {"type", "function_call"}, {"status", "in_progress"},
                     {"call_id", call.id},  {"name", call.name},       {"arguments", ""}};
  output_.push_back(entry);
  const auto whole_item = [&] {
    return ordered_json{{"output_index", output_.size() - 1}, {"item", output_.back()}};
  };
  event("response.output_item.added", whole_item());
  ordered_json delta = item(), done = delta;
  delta["delta"] = done["arguments"] = call.arguments;
  done["name"] = call.name;
  event("response.function_call_arguments.delta", delta);
  event("response.function_call_arguments.done", done);
  output_.back()["arguments"] = call.arguments;
  output_.back()["status"] = "completed";
  event("response.output_item.done", whole_item());
}

}  // namespace engine::lane
