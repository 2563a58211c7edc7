// Speed of the CPU twin's matrix products and attention, in multiply-adds per second and core, for
// decode and prefill shapes and for each instruction set that the machine and the build have.
//
//   build/release/tests/benchmarks/bench_twin
#include <benchmark/benchmark.h>
#include <hwy/targets.h>

#include <random>
#include <string>
#include <vector>

#include "kernels/ops.h"

namespace {

using namespace engine::kernels;

std::vector<bf16> normal_values(std::size_t count, float deviation, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(0.0f, deviation);
  std::vector<bf16> values(count);
  for (bf16& value : values)
    value = engine::numerics::from_float(normal(random));
  return values;
}

struct Shape {
  std::size_t rows, outputs, inner;
};

void matmul(benchmark::State& state, std::int64_t target, Shape shape) {
  hwy::SetSupportedTargetsForTest(target);
  const auto backend = make_backend("cpu", {.threads = 1});
  const auto weights = normal_values(shape.outputs * shape.inner, 0.02f, 1);
  const auto x = normal_values(shape.rows * shape.inner, 1.0f, 2);
  const MatrixPart part{weights.data(), shape.outputs};
  const auto matrix = backend->prepare({&part, 1}, shape.inner);
  std::vector<float> out(shape.rows * shape.outputs);
  for (auto _ : state) {
    backend->matmul(out.data(), x.data(), *matrix, nullptr, shape.rows, false);
    benchmark::DoNotOptimize(out.data());
  }
  const auto work = static_cast<double>(shape.rows * shape.outputs * shape.inner);
  state.counters["MAC/s"] = benchmark::Counter(work, benchmark::Counter::kIsIterationInvariantRate);
  hwy::SetSupportedTargetsForTest(0);
}

struct Context {
  std::size_t rows, position;
  Phase phase;
};

// Both products of attention counted: 2 * rows * keys * Q * D.
void attention(benchmark::State& state, std::int64_t target, Context context) {
  hwy::SetSupportedTargetsForTest(target);
  const auto backend = make_backend("cpu", {.threads = 1});
  const HeadShape heads{8, 2, 64};
  const std::size_t slots = context.position + context.rows;
  auto k = normal_values(slots * heads.kv_heads * heads.head_size, 1.0f, 1);
  auto v = normal_values(k.size(), 1.0f, 2);
  const std::size_t width = heads.query_heads * heads.head_size;
  const auto query = normal_values(context.rows * width, 1.0f, 3);
  std::vector<bf16> out(query.size());
  const AttentionArgs args{.query = query.data(),
                           .position = context.position,
                           .first = 0,
                           .window = slots,
                           .phase = context.phase,
                           .scores = {engine::numerics::score_scale(heads.head_size)}};
  for (auto _ : state) {
    backend->attention(out.data(), {k.data(), v.data(), slots}, heads, args, context.rows);
    benchmark::DoNotOptimize(out.data());
  }
  const double keys = static_cast<double>(context.position) + (context.rows + 1) / 2.0;
  state.counters["MAC/s"] = benchmark::Counter(2.0 * context.rows * keys * width,
                                               benchmark::Counter::kIsIterationInvariantRate);
  hwy::SetSupportedTargetsForTest(0);
}

void register_attention(std::int64_t target) {
  const Context contexts[] = {{1, 4000, Phase::kDecode},
                              {4, 4000, Phase::kDecode},
                              {64, 0, Phase::kPrefill},
                              {64, 2000, Phase::kPrefill}};
  for (const Context context : contexts) {
    const std::string name = std::string(hwy::TargetName(target)) +
                             "/attention/rows:" + std::to_string(context.rows) +
                             "/kept:" + std::to_string(context.position);
    benchmark::RegisterBenchmark(name.c_str(), attention, target, context)
        ->Unit(benchmark::kMillisecond);
  }
}

void register_all() {
  const Shape shapes[] = {{1, 2048, 2048}, {4, 2048, 2048}, {64, 1024, 1024}, {512, 512, 1024}};
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    for (const Shape shape : shapes) {
      const std::string name =
          std::string(hwy::TargetName(target)) + "/matmul/rows:" + std::to_string(shape.rows) +
          "/N:" + std::to_string(shape.outputs) + "/K:" + std::to_string(shape.inner);
      benchmark::RegisterBenchmark(name.c_str(), matmul, target, shape)
          ->Unit(benchmark::kMillisecond);
    }
    register_attention(target);
  }
}

}  // namespace

int main(int argc, char** argv) {
  register_all();
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}
