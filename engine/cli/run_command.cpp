#include <fmt/format.h>

#include <istream>
#include <nlohmann/json.hpp>
#include <ostream>
#include <stdexcept>

#include "cli/commands.h"
#include "cli/session.h"
#include "model/stream_decoder.h"

namespace engine::cli {
namespace {

using kernels::Token;
using nlohmann::ordered_json;

std::vector<Token> encode_prompt(const Session& session, const PromptSource& source,
                                 std::istream& in) {
  const model::Tokenizer& tokenizer = session.model().tokenizer();
  const bool is_text = source.kind == PromptSource::Kind::kText;
  const std::string text = is_text ? source.value : read_text(source.value, in);
  if (source.kind != PromptSource::Kind::kChatFile)
    return tokenizer.encode(text, model::SpecialText::kIsToken);
  const model::ChatTemplate* chat = session.model().chat_template();
  if (chat == nullptr)
    throw std::runtime_error("the model has no chat_template.json, so --chat cannot be used");
  return model::encode_chat(tokenizer, *chat, model::parse_messages(text, source.value), true);
}

std::string_view name(runtime::FinishReason reason) {
  switch (reason) {
    case runtime::FinishReason::kStop:
      return "stop";
    case runtime::FinishReason::kLength:
      return "length";
    case runtime::FinishReason::kContext:
      return "context";
    case runtime::FinishReason::kCancelled:
      return "cancelled";
  }
  return "unknown";
}

ordered_json stats_json(const runtime::Stats& stats) {
  ordered_json json;
  runtime::for_each_stat(stats, [&](std::string_view stat, runtime::StatValue value) {
    std::visit([&](const auto& v) { json[std::string(stat)] = v; }, value);
  });
  return json;
}

std::string format_stat(std::size_t count) {
  return fmt::format("{}", count);
}
std::string format_stat(double seconds) {
  return fmt::format("{:.3f}", seconds);
}
std::string format_stat(std::string_view word) {
  return std::string(word);
}

std::string stats_line(const runtime::Stats& stats) {
  std::string line;
  runtime::for_each_stat(stats, [&](std::string_view stat, runtime::StatValue value) {
    const std::string text = std::visit([](const auto& v) { return format_stat(v); }, value);
    line += fmt::format("{}{}={}", line.empty() ? "" : " ", stat, text);
  });
  return line;
}

// Progress of a long prefill, on one line that is wiped at its end.
class Progress {
 public:
  explicit Progress(const Streams& streams) : streams_(streams) {}

  void show(std::size_t done, std::size_t total) const {
    if (!streams_.err_is_terminal) return;
    if (done < total) {
      streams_.err << fmt::format("\rprefill {} of {} tokens", done, total) << std::flush;
    } else {
      streams_.err << "\r\x1b[K" << std::flush;
    }
  }

 private:
  const Streams& streams_;
};

void print_json(std::ostream& out, const model::Tokenizer& tokenizer, const runtime::Reply& reply) {
  model::StreamDecoder decoder(tokenizer);
  std::string text;
  for (const Token token : reply.tokens)
    text += decoder.push(token);
  text += decoder.finish();
  ordered_json json{{"text", text}, {"tokens", reply.tokens}, {"finish", name(reply.finish)}};
  json["stats"] = stats_json(reply.stats);
  out << json.dump() << "\n" << std::flush;
}

// One request: its text streams out as it is generated, or one JSON object follows.
void serve(runtime::Engine& engine, const model::Tokenizer& tokenizer,
           const runtime::Request& request, bool json, const Streams& streams) {
  const Progress progress(streams);
  model::StreamDecoder decoder(tokenizer);
  runtime::Callbacks callbacks;
  callbacks.on_prefill = [&](std::size_t done, std::size_t total) { progress.show(done, total); };
  if (!json)
    callbacks.on_token = [&](Token token) { streams.out << decoder.push(token) << std::flush; };
  const runtime::Reply reply = engine.run(request, callbacks);
  if (json) return print_json(streams.out, tokenizer, reply);
  streams.out << decoder.finish() << "\n" << std::flush;
  streams.err << "engine: finish=" << name(reply.finish) << " " << stats_line(reply.stats) << "\n";
}

}  // namespace

int run_command(const RunSettings& settings, const Streams& streams) {
  if (settings.prompts.empty())
    throw std::runtime_error("no prompt; give --prompt, --prompt-file or --chat");
  const Session session(settings.engine, streams);
  const std::unique_ptr<runtime::Engine> engine = session.make_engine();
  for (const PromptSource& source : settings.prompts) {
    runtime::Request request{encode_prompt(session, source, streams.in), settings.params};
    if (!settings.ignore_stop) request.params.stop_tokens = session.model().config().stop_tokens;
    serve(*engine, session.model().tokenizer(), request, settings.json, streams);
  }
  return kOk;
}

}  // namespace engine::cli
