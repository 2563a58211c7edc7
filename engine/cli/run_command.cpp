#include <fmt/format.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>

#include "cli/answer.h"
#include "cli/commands.h"
#include "cli/logits_file.h"
#include "cli/session.h"

namespace engine::cli {
namespace {

using kernels::Token;

std::vector<Token> parse_tokens(const std::string& text, const std::string& file) {
  const nlohmann::json json = nlohmann::json::parse(text, nullptr, false);
  const auto refuse = [&](const std::string& reason) {
    throw std::runtime_error(fmt::format("{}: {}", file, reason));
  };
  if (!json.is_array()) refuse("expected a JSON array of token ids");
  std::vector<Token> tokens;
  for (const nlohmann::json& id : json) {
    if (!id.is_number_unsigned() || id > std::numeric_limits<Token>::max())
      refuse(fmt::format("[{}]: expected a token id, found {}", tokens.size(), id.dump()));
    tokens.push_back(id);
  }
  return tokens;
}

std::vector<Token> encode_prompt(const Session& session, const PromptSource& source,
                                 std::istream& in) {
  const model::Tokenizer& tokenizer = session.model().tokenizer();
  const bool is_text = source.kind == PromptSource::Kind::kText;
  const std::string text = is_text ? source.value : read_text(source.value, in);
  if (source.kind == PromptSource::Kind::kTokenFile) return parse_tokens(text, source.value);
  if (source.kind != PromptSource::Kind::kChatFile) return tokenizer.encode_prompt(text);
  return encode_messages(session.model(), model::parse_messages(text, source.value));
}

}  // namespace

int run_command(const RunSettings& settings, const Streams& streams) {
  if (settings.prompts.empty())
    throw std::runtime_error("no prompt; give --prompt, --prompt-file, --chat or --tokens");
  if (!settings.logits.empty() && settings.prompts.size() > 1)
    throw std::runtime_error(
        fmt::format("--logits is for one prompt, and there are {}", settings.prompts.size()));
  const Session session(settings.engine, streams);
  const std::unique_ptr<runtime::Engine> engine = session.make_engine();
  for (const PromptSource& source : settings.prompts) {
    runtime::Request request{encode_prompt(session, source, streams.in), settings.params};
    if (!settings.ignore_stop) request.params.stop_tokens = session.model().config().stop_tokens;
    std::optional<LogitsFile> logits;
    runtime::Callbacks callbacks;
    if (!settings.logits.empty()) {
      logits.emplace(settings.logits, request.prompt.size(), session.model().config().vocabulary);
      callbacks.on_prompt_logits = [&](std::size_t, std::span<const float> row) {
        logits->add(row);
      };
    }
    (void)answer(*engine, session.model(), request, settings.json, streams, std::move(callbacks));
    if (logits) logits->finish();
  }
  return kOk;
}

}  // namespace engine::cli
