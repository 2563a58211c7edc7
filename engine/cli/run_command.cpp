#include <stdexcept>

#include "cli/answer.h"
#include "cli/commands.h"
#include "cli/session.h"

namespace engine::cli {
namespace {

using kernels::Token;

std::vector<Token> encode_prompt(const Session& session, const PromptSource& source,
                                 std::istream& in) {
  const model::Tokenizer& tokenizer = session.model().tokenizer();
  const bool is_text = source.kind == PromptSource::Kind::kText;
  const std::string text = is_text ? source.value : read_text(source.value, in);
  if (source.kind != PromptSource::Kind::kChatFile) return tokenizer.encode_prompt(text);
  return encode_messages(session.model(), model::parse_messages(text, source.value));
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
    (void)answer(*engine, session.model(), request, settings.json, streams);
  }
  return kOk;
}

}  // namespace engine::cli
