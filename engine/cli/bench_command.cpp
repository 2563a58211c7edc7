#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <nlohmann/json.hpp>
#include <ostream>

#include "cli/bench_conversation.h"
#include "cli/bench_model.h"
#include "cli/commands.h"
#include "runtime/engine.h"
#include "runtime/forward.h"

namespace engine::cli {
namespace {

using kernels::Phase;
using kernels::Token;
using nlohmann::ordered_json;

// Wall time of one call, after one that is not counted; waits for the backend at both ends.
double seconds_of(kernels::Backend& backend, std::size_t repeats,
                  const std::function<void(std::size_t)>& call) {
  call(0);
  backend.synchronize();
  const auto start = std::chrono::steady_clock::now();
  for (std::size_t i = 0; i < repeats; ++i)
    call(i + 1);
  backend.synchronize();
  const std::chrono::duration<double> total = std::chrono::steady_clock::now() - start;
  return total.count() / static_cast<double>(repeats);
}

class Bench {
 public:
  Bench(const runtime::Network& network, const BenchSettings& settings, const Streams& streams)
      : network_(network), settings_(settings), streams_(streams) {}

  ordered_json run() {
    if (settings_.turns > 0) {
      bench_conversation(network_, settings_, [&](ordered_json line) { report(std::move(line)); });
      return result_;
    }
    for (const std::size_t rows : settings_.prompt_rows)
      measure_engine(rows);
    measure_kernels();
    return result_;
  }

 private:
  std::size_t longest() const { return *std::ranges::max_element(settings_.lengths); }

  void measure_engine(std::size_t prompt_rows) {
    runtime::EngineOptions options;
    options.prompt_rows = prompt_rows;
    options.context = longest() + kSuffix + settings_.tokens;
    runtime::Engine engine(network_, options);
    for (const std::size_t length : settings_.lengths) {
      runtime::Request request{bench_tokens(length, network_.config().vocabulary), {}};
      request.params.max_tokens = settings_.tokens;
      request.params.draft_tokens = 0;
      engine.run(request);
      const runtime::Stats stats = engine.run(request).stats;
      const double prefill = static_cast<double>(length) / stats.prefill_seconds;
      const double decode = static_cast<double>(stats.generated_tokens - 1) / stats.decode_seconds;
      report({{"what", "prefill"},
              {"prompt_rows", prompt_rows},
              {"tokens", length},
              {"ms", stats.prefill_seconds * 1e3},
              {"tok_per_s", prefill}});
      report({{"what", "decode"},
              {"prompt_rows", prompt_rows},
              {"tokens", length},
              {"ms", 1e3 / decode},
              {"tok_per_s", decode}});
    }
    // The buffer holds the longest prompt's rows: what a resumed turn with a short suffix computes.
    const std::vector<Token> suffix = bench_tokens(kSuffix, network_.config().vocabulary);
    const double seconds = seconds_of(network_.backend(), 3, [&](std::size_t) {
      for (std::size_t at = 0; at < kSuffix; at += prompt_rows) {
        const std::size_t rows = std::min(prompt_rows, kSuffix - at);
        runtime::forward(network_, engine.state(), std::span(suffix).subspan(at, rows),
                         longest() + at, Phase::kPrefill);
      }
      runtime::compute_logits(network_, engine.state(), 1, 1);
    });
    report({{"what", "suffix of 512"},
            {"prompt_rows", prompt_rows},
            {"tokens", longest()},
            {"ms", seconds * 1e3},
            {"tok_per_s", static_cast<double>(kSuffix) / seconds}});
  }

  // Each operation alone, over the weights of successive layers so that no cache holds them.
  void measure_kernels() {
    const std::size_t most = *std::ranges::max_element(settings_.prompt_rows);
    runtime::State state(network_, {longest() + most, most, 0});
    std::vector<std::size_t> launches{1, 8, 64};
    launches.insert(launches.end(), settings_.prompt_rows.begin(), settings_.prompt_rows.end());
    for (const std::size_t rows : launches)
      measure_rows(state, rows);
  }

  void measure_rows(const runtime::State& state, std::size_t rows) {
    kernels::Backend& backend = network_.backend();
    const runtime::State::Scratch& s = state.scratch();
    const model::ModelConfig& c = network_.config();
    const auto& layers = network_.layers;
    const std::size_t repeats = layers.size();
    const auto matmul = [&](const char* name, float* out, const kernels::bf16* x,
                            const std::function<const kernels::Matrix&(std::size_t)>& weights,
                            bool accumulate) {
      const double seconds = seconds_of(backend, repeats, [&](std::size_t i) {
        backend.matmul(out, x, weights(i % layers.size()), nullptr, rows, accumulate);
      });
      const kernels::Matrix& w = weights(0);
      const auto outputs = static_cast<double>(w.outputs()), inner = static_cast<double>(w.inner());
      const auto r = static_cast<double>(rows);
      kernel(name, rows, seconds,
             2 * outputs * inner + r * (2 * inner + 4 * outputs * (accumulate ? 2 : 1)),
             2 * r * outputs * inner);
    };
    matmul(
        "qkv", s.qkv, s.normed,
        [&](std::size_t i) -> const kernels::Matrix& { return *layers[i].qkv; }, false);
    matmul(
        "output", state.hidden(1), s.attended,
        [&](std::size_t i) -> const kernels::Matrix& { return *layers[i].output; }, true);
    matmul(
        "gate_up", s.gate_up, s.normed,
        [&](std::size_t i) -> const kernels::Matrix& { return *layers[i].gate_up; }, false);
    matmul(
        "down", state.hidden(1), s.activated,
        [&](std::size_t i) -> const kernels::Matrix& { return *layers[i].down; }, true);
    if (rows <= runtime::kMaxDecodeRows)
      matmul(
          "lm_head", s.logits, s.normed,
          [&](std::size_t) -> const kernels::Matrix& { return *network_.lm_head; }, false);

    const auto r = static_cast<double>(rows);
    const double hidden = static_cast<double>(c.hidden),
                 inner = static_cast<double>(c.intermediate);
    const double keys = static_cast<double>(c.kv_heads * c.head_size),
                 queries = static_cast<double>(c.query_heads * c.head_size);
    kernel("rms_norm", rows,
           seconds_of(backend, repeats,
                      [&](std::size_t) {
                        backend.rms_norm(s.normed, c.hidden, state.hidden(1), network_.final_norm,
                                         rows, c.hidden, c.norm_epsilon);
                      }),
           r * hidden * 6, 0);
    kernel("silu_mul", rows,
           seconds_of(backend, repeats,
                      [&](std::size_t) {
                        backend.silu_mul(s.activated, s.gate_up, rows, c.intermediate);
                      }),
           r * inner * 10, 0);
    kernel("gate_up, silu_mul", rows,
           seconds_of(backend, repeats,
                      [&](std::size_t i) {
                        backend.matmul_silu_mul(s.activated, s.gate_up, s.normed,
                                                *layers[i % layers.size()].gate_up, rows);
                      }),
           2 * hidden * inner * 2 + r * (2 * hidden + 2 * inner), 4 * r * hidden * inner);
    kernel("write_qkv", rows,
           seconds_of(backend, repeats,
                      [&](std::size_t i) {
                        backend.write_qkv(
                            s.query, state.kv(i % layers.size()), network_.heads(),
                            {s.qkv, nullptr, nullptr, c.norm_epsilon, network_.rotary(), longest()},
                            rows);
                      }),
           r * (queries + 2 * keys) * 6, 0);
    const Phase phase = rows <= runtime::kMaxDecodeRows ? Phase::kDecode : Phase::kPrefill;
    for (const std::size_t length : settings_.lengths) {
      const double seen = static_cast<double>(length) + r / 2;
      kernel(
          fmt::format("attention at {}", length), rows,
          seconds_of(backend, repeats,
                     [&](std::size_t i) {
                       backend.attention(s.attended, state.kv(i % layers.size()), network_.heads(),
                                         {s.query, length, 0, length + rows, phase}, rows);
                     }),
          (static_cast<double>(length) + r) * keys * 4 + r * queries * 4, 4 * r * seen * queries);
    }
  }

  void kernel(const std::string& name, std::size_t rows, double seconds, double bytes,
              double flops) {
    report({{"what", name},
            {"rows", rows},
            {"us", seconds * 1e6},
            {"gb_per_s", bytes / seconds / 1e9},
            {"tflop_per_s", flops / seconds / 1e12}});
  }

  void report(ordered_json line) {
    if (!settings_.json) {
      std::string text;
      for (const auto& [key, value] : line.items()) {
        text += value.is_string() ? fmt::format("{:20}", value.get<std::string>())
                : value.is_number_float()
                    ? fmt::format("{:>12} {:9.2f}", key, value.get<double>())
                    : fmt::format("{:>12} {:6}", key, value.get<std::size_t>());
      }
      streams_.out << text << "\n" << std::flush;
    }
    result_.push_back(std::move(line));
  }

  static constexpr std::size_t kSuffix = 512;

  const runtime::Network& network_;
  const BenchSettings& settings_;
  const Streams& streams_;
  ordered_json result_ = ordered_json::array();
};

}  // namespace

int bench_command(const BenchSettings& settings, const Streams& streams) {
  const BenchFolder folder(settings.layers, settings.small);
  const model::Model model = model::Model::load(folder.path());
  const std::unique_ptr<kernels::Backend> backend = kernels::make_backend(
      settings.backend, {.threads = 0, .row_invariant = settings.row_invariant});
  RandomWeights random(*backend);
  const runtime::Network network(model, random);
  if (!settings.json) streams.out << backend->device() << "\n";
  const ordered_json lines = Bench(network, settings, streams).run();
  if (settings.json)
    streams.out << ordered_json{{"device", backend->device()}, {"lines", lines}}.dump() << "\n";
  return kOk;
}

}  // namespace engine::cli
