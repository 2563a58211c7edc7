#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <ostream>

#include "cli/commands.h"
#include "cli/digest.h"
#include "cli/sample_text.h"
#include "cli/session.h"

namespace engine::cli {
namespace {

using nlohmann::ordered_json;

struct DigestCase {
  std::size_t prompt_tokens;
  std::size_t draft_tokens;
};

// Around every switch of tiling: the decode class (8 rows), attention's tile (64 keys), the chunk,
// and one prompt of several chunks.
std::vector<std::size_t> default_lengths(std::size_t prompt_rows) {
  std::vector<std::size_t> lengths{
      1, 2, 7, 8, 9, 63, 64, 65, prompt_rows, prompt_rows + 1, 2 * prompt_rows + 37};
  if (prompt_rows > 1) lengths.push_back(prompt_rows - 1);
  std::sort(lengths.begin(), lengths.end());
  lengths.erase(std::unique(lengths.begin(), lengths.end()), lengths.end());
  return lengths;
}

std::vector<DigestCase> digest_cases(const DigestSettings& settings, const Session& session) {
  std::vector<std::size_t> lengths = settings.lengths;
  if (lengths.empty()) lengths = default_lengths(session.options().prompt_rows);
  std::vector<DigestCase> cases;
  for (const std::size_t length : lengths) {
    cases.push_back({length, 0});
    if (session.network().mtp) cases.push_back({length, 3});
  }
  return cases;
}

// The sample's tokens, repeated as often as the longest prompt needs.
std::vector<kernels::Token> sample_tokens(const Session& session, std::size_t count) {
  const std::vector<kernels::Token> once =
      session.model().tokenizer().encode(sample_text(), model::SpecialText::kIsText);
  std::vector<kernels::Token> tokens;
  while (tokens.size() < count)
    tokens.insert(tokens.end(), once.begin(), once.end());
  tokens.resize(count);
  return tokens;
}

}  // namespace

int digest_command(const DigestSettings& settings, const Streams& streams) {
  const Session session(settings.engine, streams);
  const std::unique_ptr<runtime::Engine> engine = session.make_engine();
  Sha256 total;
  ordered_json json{{"backend", session.backend().name()}, {"model", session.model().weights().id}};
  for (const DigestCase& one : digest_cases(settings, session)) {
    runtime::Request request{sample_tokens(session, one.prompt_tokens), {}};
    request.params.max_tokens = settings.tokens;
    request.params.draft_tokens = one.draft_tokens;
    request.params.keep_logits = true;
    const runtime::Reply reply = engine->run(request);
    const std::string digest = reply_digest(*engine, one.prompt_tokens, reply);
    total.add(digest.data(), digest.size());
    if (settings.json) {
      json["cases"].push_back(
          {{"prompt_tokens", one.prompt_tokens}, {"draft", one.draft_tokens}, {"sha256", digest}});
    } else {
      streams.out << fmt::format("{}  prompt {:5} tokens, draft {}\n", digest, one.prompt_tokens,
                                 one.draft_tokens);
    }
  }
  const std::string sha = total.finish();
  json["sha256"] = sha;
  streams.out << (settings.json ? json.dump() : sha + "  total") << "\n";
  return kOk;
}

}  // namespace engine::cli
