// What row-invariant kernels cost, which make cached rows equal cold ones without the fixed grid:
// one split and one attention order for every row count (BackendOptions::row_invariant), against
// the default, on the CPU backend. Prefill in chunks of `rows` from `rows` prompts tokens, and
// decode.
//
//   build/release/tests/benchmarks/bench_row_invariant
//
// The grid costs nothing here: its chunks are launches like any other. What it costs is rows that
// are computed again, at most prompt_rows a turn.
#include <benchmark/benchmark.h>

#include "runtime/prefill.h"
#include "runtime/test_network.h"

namespace {

using namespace engine;
struct MiniModel {
  model::Model model = model::Model::load(runtime::testing::model_folder("mini"));
  std::unique_ptr<kernels::Backend> backend;
  runtime::Network network;

  explicit MiniModel(bool row_invariant)
      : backend(kernels::make_backend("auto", {.threads = 1, .row_invariant = row_invariant})),
        network(model, *backend) {}
};

const MiniModel& model_of(bool row_invariant) {
  static const MiniModel by_launch(false), invariant(true);
  return row_invariant ? invariant : by_launch;
}

runtime::Reply reply(runtime::Engine& engine, std::size_t prompt, std::size_t tokens) {
  const auto request = runtime::testing::request_of(runtime::testing::random_tokens(prompt, 1),
                                                    tokens, /*draft_tokens=*/0);
  return engine.run(request);
}

// Rows a second: range(0) mode, range(1) rows of a chunk; two chunks a prompt.
void prefill(benchmark::State& state) {
  const auto rows = static_cast<std::size_t>(state.range(1));
  runtime::Engine engine(model_of(state.range(0) != 0).network,
                         {.context = 2 * rows, .prompt_rows = rows, .log = {}});
  double seconds = 0;
  for (auto unused : state)
    seconds += reply(engine, 2 * rows, 1).stats.prefill_seconds;
  const double all = static_cast<double>(2 * rows) * static_cast<double>(state.iterations());
  state.counters["rows/s"] = all / seconds;
}

// Tokens a second after a prompt of range(1) tokens, without drafting.
void decode(benchmark::State& state) {
  const auto prompt = static_cast<std::size_t>(state.range(1));
  constexpr std::size_t kTokens = 16;
  runtime::Engine engine(model_of(state.range(0) != 0).network,
                         {.context = prompt + kTokens, .prompt_rows = prompt, .log = {}});
  double seconds = 0;
  for (auto unused : state)
    seconds += reply(engine, prompt, kTokens).stats.decode_seconds;
  state.counters["tokens/s"] =
      static_cast<double>(kTokens) * static_cast<double>(state.iterations()) / seconds;
}

BENCHMARK(prefill)->ArgNames({"row_invariant", "rows"})->ArgsProduct({{0, 1}, {32, 64, 256, 512}});
BENCHMARK(decode)->ArgNames({"row_invariant", "prompt"})->ArgsProduct({{0, 1}, {64, 512}});

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
