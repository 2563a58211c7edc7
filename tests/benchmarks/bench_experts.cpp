// A layer's experts at a published shape, one operation at a time: microseconds, and for the
// products how fast the weights of the experts that have rows were read.
//
//   build/cuda/tests/benchmarks/bench_experts
//
// GLM-5: hidden 6144, 256 experts of width 2048, 8 a row. The weights are one expert's, 256 times;
// the router's logits are random, so that all experts are as likely.
#include <cstdio>
#include <memory>
#include <random>
#include <set>
#include <vector>

#include "kernels/ops.h"
#include "time_of.h"

namespace {

using namespace engine;
using bench::time_of;
using kernels::bf16;

constexpr std::size_t kHidden = 6144, kWidth = 2048, kExperts = 256, kChosen = 8, kMostRows = 2048;
constexpr numerics::RouterRule kRule{.score = numerics::RouterScore::kSigmoid,
                                     .experts = kExperts,
                                     .chosen = kChosen,
                                     .normalised = true,
                                     .scale = 2.5f};

std::vector<bf16> random_values(std::size_t count, float deviation) {
  std::mt19937 random(1);
  std::normal_distribution<float> normal(0.0f, deviation);
  std::vector<bf16> values(count);
  for (bf16& value : values)
    value = numerics::from_float(normal(random));
  return values;
}

struct Layer {
  explicit Layer(kernels::Backend& on)
      : backend(on), scratch(on.allocate(kMostRows * kChosen * (kWidth * 10 + kHidden * 7))) {
    const std::vector<bf16> weights = random_values(2 * kWidth * kHidden, 0.02f);
    const std::vector<kernels::MatrixPart> gates(kExperts, {weights.data(), 2 * kWidth});
    const std::vector<kernels::MatrixPart> downs(kExperts, {weights.data(), kHidden});
    gate_up = backend.prepare_experts(gates, kHidden, kExperts);
    down = backend.prepare_experts(downs, kWidth, kExperts);
    std::byte* next = scratch->data();
    const auto take = [&](auto& pointer, std::size_t count) {
      pointer = reinterpret_cast<std::remove_reference_t<decltype(pointer)>>(next);
      next += (count * sizeof(*pointer) + 255) / 256 * 256;
    };
    const std::size_t pairs = kMostRows * kChosen;
    take(logits, kMostRows * kExperts);
    take(x, kMostRows * kHidden);
    take(routes.experts, pairs);
    take(routes.weights, pairs);
    take(routes.places, pairs);
    take(routes.rows, pairs);
    take(routes.begins, kExperts + 1);
    take(gathered, pairs * kHidden);
    take(projected, pairs * 2 * kWidth);
    take(activated, pairs * kWidth);
    take(outputs, pairs * kHidden);
    take(mixed, kMostRows * kHidden);
    const std::vector<bf16> rows = random_values(kMostRows * kHidden, 1.0f);
    backend.upload(x, rows.data(), rows.size() * sizeof(bf16));
    std::vector<float> chances;
    for (const bf16 value : random_values(kMostRows * kExperts, 1.0f))
      chances.push_back(numerics::to_float(value));
    backend.upload(logits, chances.data(), chances.size() * sizeof(float));
  }

  kernels::Backend& backend;
  std::unique_ptr<kernels::Buffer> scratch;
  std::unique_ptr<kernels::ExpertMatrices> gate_up, down;
  float *logits, *projected, *outputs, *mixed;
  bf16 *x, *gathered, *activated;
  kernels::Routes routes;
};

void measure(Layer& layer, std::size_t rows) {
  kernels::Backend& backend = layer.backend;
  const kernels::RoutedRows routed{layer.routes, rows, kChosen};
  const auto route = [&] { backend.route(layer.routes, {layer.logits, nullptr, kRule}, rows); };
  const auto gather = [&] { backend.gather(layer.gathered, layer.x, routed, kHidden); };
  const auto first = [&] {
    backend.matmul_experts(layer.projected, layer.gathered, *layer.gate_up, routed);
  };
  const auto activate = [&] {
    backend.activate(layer.activated, layer.projected, routed.pairs(), kWidth,
                     numerics::Activation::kSiluGated);
  };
  const auto second = [&] {
    backend.matmul_experts(layer.outputs, layer.activated, *layer.down, routed);
  };
  const auto mix = [&] { backend.mix(layer.mixed, layer.outputs, routed, kHidden); };
  const auto all = [&] { route(), gather(), first(), activate(), second(), mix(); };
  const double whole = time_of(backend, all);
  std::vector<std::int32_t> experts(routed.pairs());
  backend.download(experts.data(), layer.routes.experts, experts.size() * sizeof(experts[0]));
  const std::size_t used = std::set(experts.begin(), experts.end()).size();
  const double bytes = static_cast<double>(used * kHidden * kWidth) * sizeof(bf16);
  const double flop = 2.0 * static_cast<double>(routed.pairs() * kHidden * kWidth);
  const double a = time_of(backend, first), b = time_of(backend, second);
  std::printf(
      "%5zu rows %4zu experts | all %8.1f us %5.2f TB/s %6.1f TFLOP/s | gate_up %8.1f us "
      "%5.2f TB/s | down %8.1f us %5.2f TB/s | route %5.1f gather %5.1f activate %5.1f "
      "mix %5.1f us\n",
      rows, used, whole, 3 * bytes / whole * 1e-6, 3 * flop / whole * 1e-6, a, 2 * bytes / a * 1e-6,
      b, bytes / b * 1e-6, time_of(backend, route), time_of(backend, gather),
      time_of(backend, activate), time_of(backend, mix));
}

}  // namespace

int main() {
  const auto backend = kernels::make_backend("cuda", {});
  Layer layer(*backend);
  for (const std::size_t rows : {1u, 2u, 4u, 8u, 16u, 64u, 512u, 2048u})
    measure(layer, rows);
}
