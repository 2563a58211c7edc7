#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <ostream>

#include "cli/commands.h"
#include "cli/kv_diff.h"
#include "cli/sample_text.h"
#include "cli/session.h"

namespace engine::cli {
namespace {

using kernels::Token;
using nlohmann::ordered_json;

constexpr std::size_t kPictureWidth = 64;

// Tokens to cut prompts from, repeated as often as needed.
class TokenSource {
 public:
  TokenSource(const Session& session, const std::filesystem::path& file, std::istream& in) {
    const std::string text =
        file.empty() ? std::string(sample_text()) : read_text(file.string(), in);
    tokens_ = session.model().tokenizer().encode(text, model::SpecialText::kIsText);
    if (tokens_.empty()) throw std::runtime_error("the text is empty");
  }

  std::vector<Token> take(std::size_t count) {
    std::vector<Token> taken;
    while (taken.size() < count)
      taken.push_back(tokens_[next_++ % tokens_.size()]);
    return taken;
  }

 private:
  std::vector<Token> tokens_;
  std::size_t next_ = 0;
};

struct Turn {
  runtime::Reply reply;
  std::size_t cached;
};

Turn run_turn(runtime::Engine& engine, const std::vector<Token>& prompt,
              const KvDiffSettings& settings) {
  runtime::Request request{prompt, {}};
  request.params.max_tokens = settings.reply_tokens;
  request.params.draft_tokens = settings.draft_tokens;
  request.params.keep_logits = true;
  Turn turn{engine.run(request), 0};
  turn.cached = count_stat(turn.reply.stats, "cached");
  return turn;
}

struct Outcome {
  std::vector<Token> prompt;  // of turn 2
  Turn resumed, alone;
  KvComparison rows;

  bool tokens_equal() const { return resumed.reply.tokens == alone.reply.tokens; }
  bool logits_equal() const { return resumed.reply.logits == alone.reply.logits; }
  bool equal() const { return !rows.first && tokens_equal() && logits_equal(); }
};

Outcome compare_turns(const Session& session, const KvDiffSettings& settings,
                      const Streams& streams) {
  const std::size_t grid = session.options().prompt_rows;
  TokenSource source(session, settings.text, streams.in);
  const std::vector<Token> first =
      source.take(settings.first_tokens == 0 ? grid + 100 : settings.first_tokens);
  const std::unique_ptr<runtime::Engine> resumed = session.make_engine();
  const Turn turn1 = run_turn(*resumed, first, settings);

  Outcome outcome{.prompt = first, .resumed = {}, .alone = {}, .rows = {}};
  std::vector<Token>& prompt = outcome.prompt;
  prompt.insert(prompt.end(), turn1.reply.tokens.begin(), turn1.reply.tokens.end());
  const std::vector<Token> suffix = source.take(
      settings.suffix_tokens == 0 ? std::max<std::size_t>(1, grid / 4) : settings.suffix_tokens);
  prompt.insert(prompt.end(), suffix.begin(), suffix.end());

  outcome.resumed = run_turn(*resumed, prompt, settings);
  const std::unique_ptr<runtime::Engine> alone = session.make_engine();
  outcome.alone = run_turn(*alone, prompt, settings);
  outcome.rows =
      compare_rows(*resumed, *alone, prompt.size() + outcome.alone.reply.tokens.size() - 1);
  return outcome;
}

void print_text(const Outcome& outcome, std::ostream& out) {
  const runtime::Stats& resumed = outcome.resumed.reply.stats;
  const runtime::Stats& alone = outcome.alone.reply.stats;
  out << fmt::format("turn 2 after turn 1: {} prompt tokens, {} cached, prefill {:.3f} s\n",
                     outcome.prompt.size(), outcome.resumed.cached, resumed.prefill_seconds);
  out << fmt::format("turn 2 alone:        {} prompt tokens, {} cached, prefill {:.3f} s\n",
                     outcome.prompt.size(), outcome.alone.cached, alone.prefill_seconds);
  const KvComparison& rows = outcome.rows;
  if (rows.first) {
    out << fmt::format("KV rows:  {} of {} differ ({} rows x {} layers)\n", rows.differing(),
                       rows.differs.size(), rows.rows, rows.layers);
    out << fmt::format(
        "  first:  row {}, layer {}\n  after turn 1 written by {}\n  alone        written by {}\n",
        rows.first->position, rows.first->layer, describe(rows.first->left),
        describe(rows.first->right));
    out << annotated_picture(rows, kPictureWidth, "turn 1+2", "alone");
  } else {
    out << fmt::format("KV rows:  equal ({} rows x {} layers)\n", rows.rows, rows.layers);
  }
  out << "tokens:   " << (outcome.tokens_equal() ? "equal" : "DIFFER") << "\n";
  out << "logits:   " << (outcome.logits_equal() ? "equal" : "DIFFER") << "\n";
  if (outcome.resumed.cached > 0) {
    out << fmt::format("saved:    {:.3f} s of prefill ({:.0f} %)\n",
                       alone.prefill_seconds - resumed.prefill_seconds,
                       100 * (1 - resumed.prefill_seconds / alone.prefill_seconds));
  }
}

ordered_json to_json(const Outcome& outcome) {
  ordered_json json{{"equal", outcome.equal()},
                    {"prompt_tokens", outcome.prompt.size()},
                    {"cached", outcome.resumed.cached},
                    {"prefill_seconds_resumed", outcome.resumed.reply.stats.prefill_seconds},
                    {"prefill_seconds_alone", outcome.alone.reply.stats.prefill_seconds},
                    {"rows", outcome.rows.rows},
                    {"layers", outcome.rows.layers},
                    {"differing", outcome.rows.differing()},
                    {"tokens_equal", outcome.tokens_equal()},
                    {"logits_equal", outcome.logits_equal()}};
  if (const auto& first = outcome.rows.first) {
    json["first"] = {{"row", first->position},
                     {"layer", first->layer},
                     {"resumed_writer", describe(first->left)},
                     {"alone_writer", describe(first->right)}};
  }
  return json;
}

}  // namespace

int kv_diff_command(const KvDiffSettings& settings, const Streams& streams) {
  const Session session(settings.engine, streams);
  const Outcome outcome = compare_turns(session, settings, streams);
  if (settings.json) {
    streams.out << to_json(outcome).dump() << "\n";
  } else {
    print_text(outcome, streams.out);
  }
  return outcome.equal() ? kOk : kDiffers;
}

}  // namespace engine::cli
