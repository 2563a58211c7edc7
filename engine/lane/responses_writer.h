// The replies of /v1/responses: a list of items (thoughts, a message, calls), whole or as events.
#pragma once

#include "lane/reply_writer.h"

namespace engine::lane {

class ResponsesWriter final : public ReplyWriter {
 public:
  // `served` and `request` must outlive it.
  ResponsesWriter(const Served& served, const GenerationRequest& request, std::string id,
                  std::int64_t created);

  std::string begin(std::size_t choice) override;
  std::string add(const ReplyDelta& delta) override;
  std::string end(const Outcome& outcome) override;
  std::string close(std::span<const Outcome> choices) override;
  std::string fail(const ApiError& error) override;

  nlohmann::ordered_json whole(std::span<const Outcome> choices) override;

 private:
  enum class Item { kNone, kThoughts, kMessage };

  void event(const std::string& type, const nlohmann::ordered_json& fields);
  nlohmann::ordered_json response(const char* status) const;
  nlohmann::ordered_json ended(std::span<const Outcome> choices) const;
  void open(Item item);
  void say(Item item, const std::string& text);
  void shut(const char* status);
  void call(const ToolCall& call);
  // Fields that name the last item, and its one part.
  nlohmann::ordered_json item() const;
  nlohmann::ordered_json part() const;

  const Served& served_;
  const GenerationRequest& request_;
  std::string id_;
  std::int64_t created_;
  std::size_t events_ = 0;
  std::string text_;  // of events that are not given out yet
  Item open_ = Item::kNone;
  nlohmann::ordered_json output_ = nlohmann::ordered_json::array();
};

}  // namespace engine::lane
