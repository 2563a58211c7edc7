// How long a switch to a parked conversation takes, against prefilling it: a random model of
// Llama-3-8B's shape, two conversations that push each other out of the buffer.
//
//   bench_parking [BACKEND [TOKENS [small]]]     cuda and 15900; small: the model's sizes divided
//   by 16
#include <fmt/format.h>

#include <cstdio>
#include <cstring>
#include <filesystem>

#include "bench/random_model.h"
#include "runtime/engine.h"
#include "runtime/stopwatch.h"

namespace {

using engine::runtime::Engine;
using engine::runtime::Reply;
using engine::runtime::Stopwatch;

engine::runtime::Request request_of(std::size_t tokens, std::size_t seed) {
  engine::runtime::Request request;
  for (std::size_t i = 0; i < tokens; ++i)
    request.prompt.push_back(static_cast<int>((i * 7919 + seed * 104729 + i * i % 131) % 8000));
  request.params.max_tokens = 1;
  return request;
}

void show(const char* what, const Reply& reply, double seconds) {
  const auto& parking = reply.stats.parking;
  fmt::print(
      "{:28} {:8.1f} ms: {:6} rows kept, {:5} computed in {:7.1f} ms; {:6} rows back from {:4} "
      "({:6.1f} MB) in {:7.1f} ms ({:5.1f} GB/s); {:6} parked in {:6.1f} ms\n",
      what, seconds * 1e3, reply.stats.cached, reply.stats.prefill_rows,
      reply.stats.prefill_seconds * 1e3, parking.unparked, parking.unparked_from,
      static_cast<double>(parking.unparked_bytes) / 1e6, parking.unpark_seconds * 1e3,
      parking.unpark_seconds > 0
          ? static_cast<double>(parking.unparked_bytes) / parking.unpark_seconds / 1e9
          : 0,
      parking.parked, parking.park_seconds * 1e3);
  std::fflush(stdout);
}

Reply timed(Engine& engine, const char* what, std::size_t tokens, std::size_t seed) {
  const engine::runtime::Request request = request_of(tokens, seed);
  const Stopwatch watch;
  Reply reply = engine.run(request);
  show(what, reply, watch.seconds());
  return reply;
}

engine::runtime::EngineOptions options_of(std::size_t tokens) {
  engine::runtime::EngineOptions options;
  options.context = tokens + 512;
  options.log = [](engine::runtime::Severity, std::string_view line) { fmt::print("{}\n", line); };
  options.parking.weights = std::string(32, 'w');
  return options;
}

void from_ram(const engine::runtime::Network& network, std::size_t tokens) {
  auto options = options_of(tokens);
  options.parking.ram_bytes = std::size_t{6} << 30;
  const Stopwatch starting;
  Engine engine(network, options);
  fmt::print("6 GiB of host memory taken in {:.2f} s\n", starting.seconds());
  timed(engine, "warm-up", 600, 9);
  const Reply cold = timed(engine, "A, all prefilled", tokens, 1);
  timed(engine, "B, all prefilled", tokens, 2);
  for (int i = 0; i < 3; ++i) {
    const Reply back = timed(engine, "back to A", tokens, 1);
    if (back.tokens != cold.tokens) fmt::print("ANOTHER REPLY\n");
    timed(engine, "back to B", tokens, 2);
  }
}

void from_disk(const engine::runtime::Network& network, std::size_t tokens,
               const std::filesystem::path& folder) {
  auto options = options_of(tokens);
  options.parking.dir = folder / "bench_parking";
  options.parking.disk_bytes = std::size_t{16} << 30;
  {
    const Stopwatch starting;
    Engine engine(network, options);
    fmt::print("a folder opened in {:.2f} s\n", starting.seconds());
    timed(engine, "A, all prefilled", tokens, 1);
    timed(engine, "B, all prefilled", tokens, 2);
    const Stopwatch writing;
    engine.parking()->settle();
    fmt::print("A written behind: {:.2f} s\n", writing.seconds());
    timed(engine, "back to A", tokens, 1);
    engine.parking()->settle();
    timed(engine, "back to B", tokens, 2);
  }
  {
    Engine engine(network, options);
    timed(engine, "A after a restart", tokens, 1);
  }
  options.parking.ram_bytes = std::size_t{6} << 30;
  Engine engine(network, options);
  timed(engine, "the same with memory", tokens, 1);
  timed(engine, "B with memory", tokens, 2);
  std::filesystem::remove_all(options.parking.dir);
}

}  // namespace

int main(int argc, char** argv) {
  const char* backend_name = argc > 1 ? argv[1] : "cuda";
  const std::size_t tokens = argc > 2 ? std::stoul(argv[2]) : 15'900;
  const bool small = argc > 3 && std::strcmp(argv[3], "small") == 0;
  const engine::bench::RandomModelFolder folder(small ? 2 : 32, small);
  const auto model = engine::model::Model::load(folder.path());
  const auto backend = engine::kernels::make_backend(backend_name, {});
  engine::bench::RandomWeights random(*backend);
  const engine::runtime::Network network(model, random);
  fmt::print("{}\n", backend->device());
  from_ram(network, tokens);
  from_disk(network, tokens, std::filesystem::temp_directory_path());
  return 0;
}
