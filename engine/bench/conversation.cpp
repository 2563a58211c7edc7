#include "bench/conversation.h"

#include <algorithm>

#include "bench/prompts.h"
#include "runtime/engine.h"

namespace engine::bench {
namespace {

using kernels::Token;

// Least squares through (x, y).
class Line {
 public:
  void add(double x, double y) {
    ++n_;
    x_ += x;
    y_ += y;
    xx_ += x * x;
    xy_ += x * y;
  }
  double slope() const { return (n_ * xy_ - x_ * y_) / (n_ * xx_ - x_ * x_); }

 private:
  double n_ = 0, x_ = 0, y_ = 0, xx_ = 0, xy_ = 0;
};

class Conversation {
 public:
  Conversation(const runtime::Network& network, const Settings& settings, std::size_t prompt_rows,
               const Report& report)
      : settings_(settings),
        vocabulary_(network.config().vocabulary),
        prompt_rows_(prompt_rows),
        report_(report),
        engine_(network, options()) {}

  void run() {
    // What a process does once would fall on the first turn: a short one comes before it.
    request_.params.max_tokens = settings_.tokens;
    request_.params.draft_tokens = 0;
    request_.prompt = bench_tokens(shortest() / 2 + 1, vocabulary_, longest());
    engine_.run(request_);
    request_.prompt.clear();
    for (std::size_t turn = 0; turn < settings_.turns; ++turn)
      take(turn);
    report_({{"what", "slope, ms per 1k"},
             {"prompt_rows", prompt_rows_},
             {"prefill", prefill_.slope() * 1e3},
             {"turn", whole_.slope() * 1e3}});
  }

 private:
  std::size_t shortest() const { return *std::ranges::min_element(settings_.lengths); }
  std::size_t longest() const { return *std::ranges::max_element(settings_.lengths); }

  runtime::EngineOptions options() const {
    runtime::EngineOptions options;
    options.prompt_rows = prompt_rows_;
    options.context = longest() + settings_.turns * settings_.tokens;
    return options;
  }

  void take(std::size_t turn) {
    const std::size_t length = shortest() + (longest() - shortest()) * turn / (settings_.turns - 1);
    const std::size_t kept = kept_;
    std::vector<Token>& prompt = request_.prompt;
    const std::size_t wanted = length > prompt.size() ? length - prompt.size() : 1;
    const std::vector<Token> suffix = bench_tokens(wanted, vocabulary_, prompt.size());
    prompt.insert(prompt.end(), suffix.begin(), suffix.end());

    const runtime::Reply reply = engine_.run(request_);
    const runtime::Stats& stats = reply.stats;
    const double wall = stats.prefill_seconds + stats.decode_seconds;
    const auto tokens = static_cast<double>(prompt.size());
    prefill_.add(tokens / 1e3, stats.prefill_seconds);
    whole_.add(tokens / 1e3, wall);
    report_({{"what", "turn"},
             {"prompt_rows", prompt_rows_},
             {"tokens", prompt.size()},
             {"new", prompt.size() - kept},
             {"rows", stats.prefill_rows},
             {"prefill ms", stats.prefill_seconds * 1e3},
             {"decode ms", stats.decode_seconds * 1e3},
             {"ms", wall * 1e3}});
    // The last token's row is not in the buffer yet.
    kept_ = prompt.size() + reply.tokens.size() - 1;
    prompt.insert(prompt.end(), reply.tokens.begin(), reply.tokens.end());
  }

  const Settings& settings_;
  const std::size_t vocabulary_, prompt_rows_;
  const Report& report_;
  runtime::Engine engine_;
  runtime::Request request_;
  std::size_t kept_ = 0;  // rows of the conversation that a cache could have kept
  Line prefill_, whole_;
};

}  // namespace

void measure_conversation(const runtime::Network& network, const Settings& settings,
                          const Report& report) {
  for (const std::size_t prompt_rows : settings.prompt_rows)
    Conversation(network, settings, prompt_rows, report).run();
}

}  // namespace engine::bench
