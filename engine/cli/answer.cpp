#include "cli/answer.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <ostream>

#include "lane/response.h"

namespace engine::cli {
namespace {

using kernels::Token;
using nlohmann::ordered_json;

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

void print_json(std::ostream& out, const model::Model& model, const runtime::Reply& reply) {
  ordered_json json{
      {"text", reply_text(model, reply)}, {"tokens", reply.tokens}, {"finish", name(reply.finish)}};
  json["stats"] = lane::stats_json(reply.stats);
  out << json.dump() << "\n" << std::flush;
}

}  // namespace

std::string reply_text(const model::Model& model, const runtime::Reply& reply) {
  model::StreamDecoder decoder = model.reply_decoder();
  std::string text;
  for (const Token token : reply.tokens)
    text += decoder.push(token);
  return text + decoder.finish();
}

void print_error(std::ostream& out, std::string_view text) {
  out << ordered_json{{"error", text}}.dump(-1, ' ', false, ordered_json::error_handler_t::replace)
      << "\n"
      << std::flush;
}

runtime::Reply answer(runtime::Engine& engine, const model::Model& model,
                      const runtime::Request& request, bool json, const Streams& streams,
                      runtime::Callbacks callbacks) {
  const Progress progress(streams);
  model::StreamDecoder decoder = model.reply_decoder();
  callbacks.on_prefill = [&](std::size_t done, std::size_t total) { progress.show(done, total); };
  if (!json)
    callbacks.on_token = [&](Token token) { streams.out << decoder.push(token) << std::flush; };
  runtime::Reply reply = engine.run(request, callbacks);
  if (json) {
    print_json(streams.out, model, reply);
    return reply;
  }
  streams.out << decoder.finish() << "\n" << std::flush;
  streams.err << "engine: finish=" << name(reply.finish) << " " << stats_line(reply.stats) << "\n";
  return reply;
}

}  // namespace engine::cli
