#include <istream>
#include <string>

#include "cli/answer.h"
#include "cli/commands.h"
#include "cli/session.h"

namespace engine::cli {
namespace {

class Chat {
 public:
  Chat(const ChatSettings& settings, const Streams& streams)
      : settings_(settings),
        streams_(streams),
        session_(settings.engine, streams),
        engine_(session_.make_engine()) {
    if (!settings.system.empty()) messages_.push_back({"system", settings.system});
  }

  // The whole conversation so far, as JSON; a line that is none, or that the engine refuses, is
  // answered by {"error": ...} and changes nothing.
  bool answer_json(const std::string& line, std::size_t number) {
    try {
      (void)reply_to(model::parse_messages(line, "line " + std::to_string(number)));
      return true;
    } catch (const std::runtime_error& error) {
      print_error(streams_.out, error.what());
      return false;
    }
  }

  // What a person says next.
  void answer_text(const std::string& line) {
    messages_.push_back({"user", line});
    const runtime::Reply reply = reply_to(messages_);
    messages_.push_back(
        {.role = "assistant", .content = reply_text(session_.model(), reply), .verbatim = true});
  }

 private:
  runtime::Reply reply_to(std::span<const model::Message> messages) {
    runtime::Request request{encode_messages(session_.model(), messages), settings_.params};
    request.params.stop_tokens = session_.model().config().stop_tokens;
    return answer(*engine_, session_.model(), request, settings_.json, streams_);
  }

  const ChatSettings& settings_;
  const Streams& streams_;
  Session session_;
  std::unique_ptr<runtime::Engine> engine_;
  std::vector<model::Message> messages_;
};

}  // namespace

int chat_command(const ChatSettings& settings, const Streams& streams) {
  Chat chat(settings, streams);
  bool all_answered = true;
  std::string line;
  for (std::size_t number = 1; std::getline(streams.in, line); ++number) {
    if (line.empty()) continue;
    if (settings.json) {
      all_answered = chat.answer_json(line, number) && all_answered;
    } else {
      chat.answer_text(line);
    }
  }
  return all_answered ? kOk : kFailed;
}

}  // namespace engine::cli
