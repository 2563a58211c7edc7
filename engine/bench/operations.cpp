#include "bench/operations.h"

#include <fmt/format.h>

#include <algorithm>

#include "bench/clock.h"
#include "runtime/forward.h"

namespace engine::bench {
namespace {

using kernels::Matrix;
using kernels::Phase;
using runtime::Layer;

// The operations of one launch of `rows` rows on the scratch of `state`.
class Launch {
 public:
  Launch(const runtime::Network& network, const runtime::State& state, std::size_t rows,
         const Report& report)
      : network_(network),
        backend_(network.backend()),
        config_(network.config()),
        state_(state),
        scratch_(state.scratch()),
        rows_(rows),
        count_(static_cast<double>(rows)),
        report_(report) {}

  void measure_products() {
    layer_product("qkv", &Layer::qkv, scratch_.qkv, scratch_.normed, false);
    layer_product("output", &Layer::output, state_.hidden(1), scratch_.attended, true);
    layer_product("gate_up", &Layer::gate_up, scratch_.gate_up, scratch_.normed, false);
    layer_product("down", &Layer::down, state_.hidden(1), scratch_.activated, true);
    if (rows_ > runtime::kMaxDecodeRows) return;
    const Matrix& head = *network_.lm_head;
    report_product("lm_head", head, false, time([&](std::size_t) {
                     backend_.matmul(scratch_.logits, scratch_.normed, head, nullptr, rows_, false);
                   }));
  }

  void measure_rows(std::size_t position) {
    const auto hidden = static_cast<double>(config_.hidden);
    const auto inner = static_cast<double>(config_.intermediate);
    report("rms_norm", count_ * hidden * 6, 0, time([&](std::size_t) {
             backend_.norm(scratch_.normed, config_.hidden, state_.hidden(1), network_.final_norm,
                           rows_, config_.hidden);
           }));
    report("silu_mul", count_ * inner * 10, 0, time([&](std::size_t) {
             backend_.activate(scratch_.activated, scratch_.gate_up, rows_, config_.intermediate,
                               config_.activation);
           }));
    report("gate_up, silu_mul", 2 * hidden * inner * 2 + count_ * (2 * hidden + 2 * inner),
           4 * count_ * hidden * inner, time([&](std::size_t layer) {
             backend_.matmul_activate(scratch_.activated, scratch_.gate_up, scratch_.normed,
                                      *network_.layers[layer].gate_up, nullptr, rows_,
                                      config_.activation);
           }));
    const kernels::QkvArgs qkv{.qkv = scratch_.qkv,
                               .q_norm = kernels::kNoNorm,
                               .k_norm = kernels::kNoNorm,
                               .whole_width = false,
                               .rotary = network_.rotary(network_.layers[0]),
                               .position = position};
    report("write_qkv", count_ * (queries() + 2 * keys()) * 6, 0, time([&](std::size_t layer) {
             backend_.write_qkv(scratch_.query, state_.rows(layer).kv, network_.heads(), qkv,
                                rows_);
           }));
  }

  void measure_attention(std::size_t length) {
    const Phase phase = rows_ <= runtime::kMaxDecodeRows ? Phase::kDecode : Phase::kPrefill;
    const kernels::AttentionArgs args{.query = scratch_.query,
                                      .position = length,
                                      .first = 0,
                                      .window = kernels::kWholeContext,
                                      .phase = phase,
                                      .scores = {config_.score_scale}};
    const auto before = static_cast<double>(length);
    report(fmt::format("attention at {}", length),
           (before + count_) * keys() * 4 + count_ * queries() * 4,
           4 * count_ * (before + count_ / 2) * queries(), time([&](std::size_t layer) {
             backend_.attention(scratch_.attended, state_.rows(layer).kv, network_.heads(), args,
                                rows_);
           }));
  }

 private:
  double queries() const { return static_cast<double>(config_.query_heads * config_.head_size); }
  double keys() const { return static_cast<double>(config_.kv_heads * config_.head_size); }

  // Seconds of one call, over the layers in turn.
  template <typename Call>
  double time(const Call& call) {
    const std::size_t layers = network_.layers.size();
    return seconds_of(backend_, layers, [&](std::size_t i) { call(i % layers); });
  }

  void layer_product(const char* name, std::unique_ptr<Matrix> Layer::*weights, float* out,
                     const kernels::bf16* x, bool accumulate) {
    report_product(name, *(network_.layers[0].*weights), accumulate, time([&](std::size_t layer) {
                     backend_.matmul(out, x, *(network_.layers[layer].*weights), nullptr, rows_,
                                     accumulate);
                   }));
  }

  void report_product(const char* name, const Matrix& w, bool accumulate, double seconds) {
    const auto outputs = static_cast<double>(w.outputs()), inner = static_cast<double>(w.inner());
    report(name, 2 * outputs * inner + count_ * (2 * inner + 4 * outputs * (accumulate ? 2 : 1)),
           2 * count_ * outputs * inner, seconds);
  }

  void report(const std::string& name, double bytes, double operations, double seconds) {
    report_({{"what", name},
             {"rows", rows_},
             {"us", seconds * 1e6},
             {"gb_per_s", bytes / seconds / 1e9},
             {"tflop_per_s", operations / seconds / 1e12}});
  }

  const runtime::Network& network_;
  kernels::Backend& backend_;
  const model::ModelConfig& config_;
  const runtime::State& state_;
  const runtime::State::Scratch& scratch_;
  std::size_t rows_;
  double count_;  // rows_
  const Report& report_;
};

}  // namespace

void measure_operations(const runtime::Network& network, const Settings& settings,
                        const Report& report) {
  const std::size_t longest = *std::ranges::max_element(settings.lengths);
  const std::size_t most = *std::ranges::max_element(settings.prompt_rows);
  const runtime::State state(network, {longest + most, most, 0});
  std::vector<std::size_t> launches{1, 8, 64};
  launches.insert(launches.end(), settings.prompt_rows.begin(), settings.prompt_rows.end());
  for (const std::size_t rows : launches) {
    Launch launch(network, state, rows, report);
    launch.measure_products();
    launch.measure_rows(longest);
    for (const std::size_t length : settings.lengths)
      launch.measure_attention(length);
  }
}

}  // namespace engine::bench
