// A small random model on the CPU backend, made once per process, and short ways to run it.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "model/init_model.h"
#include "numerics/philox.h"
#include "runtime/engine.h"
#include "temp_folder.h"

namespace engine::runtime::testing {

using kernels::Token;

struct LoadedModel {
  model::Model model;
  std::unique_ptr<kernels::Backend> backend;
  Network network;

  LoadedModel(const std::filesystem::path& dir, const kernels::BackendOptions& options)
      : model(model::Model::load(dir)),
        backend(kernels::make_backend("cpu", options)),
        network(model, *backend) {}
};

// A folder with one of the presets of model/init_model.h, made once per process, removed at its
// end.
inline std::filesystem::path model_folder(const std::string& preset) {
  static const TempFolder folder;
  const std::filesystem::path dir = folder / preset;
  if (!std::filesystem::exists(dir)) model::init_model(preset, dir, {.seed = 1});
  return dir;
}

// Loads each preset once.
inline const LoadedModel& loaded(const std::string& preset = "micro") {
  static std::map<std::string, std::unique_ptr<LoadedModel>> models;
  std::unique_ptr<LoadedModel>& model = models[preset];
  if (!model)
    model =
        std::make_unique<LoadedModel>(model_folder(preset), kernels::BackendOptions{.threads = 1});
  return *model;
}

// `count` random text tokens; stream `seed` is the same on every machine, and a longer draw extends
// a shorter one.
inline std::vector<Token> random_tokens(std::size_t count, std::uint64_t seed) {
  std::vector<Token> tokens;
  for (std::size_t i = 0; i < count; ++i) {
    tokens.push_back(static_cast<Token>(numerics::philox(seed, i)[0] % 256));
  }
  return tokens;
}

struct SmallEngine {
  std::size_t prompt_rows = 64;
  std::size_t context = 640;
  std::size_t ring_rows = 0;
  std::string preset = "micro";

  Engine make() const {
    return Engine(
        loaded(preset).network,
        {.context = context, .prompt_rows = prompt_rows, .ring_rows = ring_rows, .log = {}});
  }
};

inline Request request_of(std::vector<Token> prompt, std::size_t max_tokens,
                          std::size_t draft_tokens = 3) {
  Request request{std::move(prompt), {}};
  request.params.max_tokens = max_tokens;
  request.params.draft_tokens = draft_tokens;
  request.params.keep_logits = true;
  return request;
}

// Bits of the KV rows [begin, end) of every layer.
inline std::vector<std::vector<std::uint16_t>> row_bits(const Engine& engine, std::size_t begin,
                                                        std::size_t end) {
  std::vector<std::vector<std::uint16_t>> rows;
  for (std::size_t position = begin; position < end; ++position) {
    std::vector<std::uint16_t>& bits = rows.emplace_back();
    for (std::size_t layer = 0; layer < engine.lane().network.layers.size(); ++layer) {
      for (const kernels::bf16 value : engine.lane().state.read_row(layer, position))
        bits.push_back(value.bits);
    }
  }
  return rows;
}

}  // namespace engine::runtime::testing
