// A loaded model on a backend, and engines over it: what every command but init-model starts with.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "cli/cli.h"
#include "cli/load_progress.h"
#include "cli/options.h"
#include "model/model.h"
#include "runtime/engine.h"

namespace engine::cli {

class Session {
 public:
  // Throws ModelError, BackendError. `streams` receives the engines' log lines.
  Session(const EngineSettings& settings, const Streams& streams);

  const std::filesystem::path& model_directory() const { return directory_; }
  const model::Model& model() const { return model_; }
  kernels::Backend& backend() const { return *backend_; }
  const runtime::Network& network() const { return network_; }
  const runtime::EngineOptions& options() const { return options_; }

  // A fresh engine: an empty lane over the shared weights.
  std::unique_ptr<runtime::Engine> make_engine() const;

 private:
  kernels::BackendOptions backend_options(const EngineSettings& settings);

  std::filesystem::path directory_;
  model::Model model_;
  LoadProgress progress_;
  std::unique_ptr<kernels::Backend> backend_;
  runtime::EngineOptions options_;
  runtime::Network network_;
};

// `model`, or the built-in model's folder if it is empty. Throws std::runtime_error if there is
// none.
std::filesystem::path find_model(const std::filesystem::path& model);

// The prompt that asks for the reply to these messages. Throws std::runtime_error if the model has
// no chat template, ModelError for a role that the template does not have.
std::vector<kernels::Token> encode_messages(const model::Model& model,
                                            std::span<const model::Message> messages);

// The whole of a file; "-" is `in`. Throws std::runtime_error naming the file.
std::string read_text(const std::string& path, std::istream& in);

// The value of a statistic that this engine may not have: 0 then.
std::size_t count_stat(const runtime::Stats& stats, std::string_view name);

}  // namespace engine::cli
