#include <fmt/format.h>

#include <ostream>

#include "bench/random_model.h"
#include "cli/commands.h"

namespace engine::cli {
namespace {

using nlohmann::ordered_json;

std::string text_of(const ordered_json& line) {
  std::string text;
  for (const auto& [key, value] : line.items()) {
    text += value.is_string()         ? fmt::format("{:20}", value.get<std::string>())
            : value.is_number_float() ? fmt::format("{:>12} {:9.2f}", key, value.get<double>())
                                      : fmt::format("{:>12} {:6}", key, value.get<std::size_t>());
  }
  return text;
}

}  // namespace

int bench_command(const BenchSettings& settings, const Streams& streams) {
  const bench::RandomModelFolder folder(settings.layers, settings.small);
  const model::Model model = model::Model::load(folder.path());
  const std::unique_ptr<kernels::Backend> backend = kernels::make_backend(
      settings.backend, {.threads = 0, .row_invariant = settings.row_invariant});
  bench::RandomWeights random(*backend);
  const runtime::Network network(model, random);
  if (!settings.json) streams.out << backend->device() << "\n";
  ordered_json lines = ordered_json::array();
  bench::run(network, settings.bench, [&](ordered_json line) {
    if (!settings.json) streams.out << text_of(line) << "\n" << std::flush;
    lines.push_back(std::move(line));
  });
  if (settings.json)
    streams.out << ordered_json{{"device", backend->device()}, {"lines", lines}}.dump() << "\n";
  return kOk;
}

}  // namespace engine::cli
