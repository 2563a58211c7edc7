#include "cli/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iostream>
#include <iterator>
#include <stdexcept>

namespace engine::cli {
namespace {

constexpr std::size_t kDefaultContext = 4096;

// A large model's launches cost much beside their rows, so that few large ones are best; a small
// model's rows are what costs, those that rounding computes again among them. Measured in
// tests/benchmarks/lane.md. By the model, not by the backend: the grid decides bits.
std::size_t grid_for(std::size_t weight_bytes) {
  constexpr std::size_t kSmallModel = std::size_t{1} << 30;
  return weight_bytes < kSmallModel ? 64 : 512;
}

runtime::EngineOptions engine_options(const EngineSettings& settings, const model::Model& model,
                                      const Streams& streams) {
  runtime::EngineOptions options = settings.engine;
  options.context = settings.context;
  if (options.context == 0)
    options.context = std::min(model.config().max_positions, kDefaultContext);
  if (options.prompt_rows == 0)
    options.prompt_rows = std::min(grid_for(model.weight_bytes()), options.context);
  options.log = [&err = streams.err, verbose = settings.verbose](runtime::Severity severity,
                                                                 std::string_view line) {
    const bool warning = severity == runtime::Severity::kWarning;
    if (warning || verbose) err << "engine: " << (warning ? "warning: " : "") << line << "\n";
  };
  return options;
}

}  // namespace

std::filesystem::path find_model(const std::filesystem::path& model) {
  if (!model.empty()) return model;
  // Where it is installed with the program, wherever that is; else, in a build folder, the
  // source's.
  std::error_code error;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
  const std::filesystem::path installed = program.parent_path() / MODEL_FROM_PROGRAM;
  if (std::filesystem::exists(installed / "config.json")) return installed.lexically_normal();
  const std::filesystem::path built_in = DEFAULT_MODEL_DIR;
  if (std::filesystem::exists(built_in / "config.json")) return built_in;
  throw std::runtime_error(fmt::format(
      "no --model given and no built-in model at {}; make one with: engine init-model DIR",
      built_in.string()));
}

Session::Session(const EngineSettings& settings, const Streams& streams)
    : directory_(find_model(settings.model)),
      model_(model::Model::load(directory_)),
      progress_(streams, model_.weight_bytes()),
      backend_(kernels::make_backend(settings.backend, backend_options(settings))),
      options_(engine_options(settings, model_, streams)),
      network_(model_, *backend_, options_.context) {
  progress_.finish();
}

kernels::BackendOptions Session::backend_options(const EngineSettings& settings) {
  return {.threads = settings.threads,
          .row_invariant = settings.row_invariant,
          .copied = [this](std::span<const std::byte> values) {
            model_.release(values);
            progress_.add(values.size());
          }};
}

std::unique_ptr<runtime::Engine> Session::make_engine() const {
  return std::make_unique<runtime::Engine>(network_, options_);
}

std::vector<kernels::Token> encode_messages(const model::Model& model,
                                            std::span<const model::Message> messages) {
  const model::ChatTemplate* chat = model.chat_template();
  if (chat == nullptr)
    throw std::runtime_error("the model has no chat template, so it cannot chat");
  return chat->encode(model.tokenizer(), {.messages = {messages.begin(), messages.end()}});
}

std::string read_text(const std::string& path, std::istream& in) {
  if (path == "-") return {std::istreambuf_iterator<char>(in), {}};
  std::ifstream file(path, std::ios::binary);
  if (!file || std::filesystem::is_directory(path)) {
    throw std::runtime_error(
        fmt::format("{}: cannot be read: {}", path,
                    std::filesystem::is_directory(path) ? "it is a folder" : std::strerror(errno)));
  }
  return {std::istreambuf_iterator<char>(file), {}};
}

std::size_t count_stat(const runtime::Stats& stats, std::string_view name) {
  std::size_t found = 0;
  runtime::for_each_stat(stats, [&](std::string_view stat, runtime::StatValue value) {
    if (const std::size_t* count = std::get_if<std::size_t>(&value);
        count != nullptr && stat == name)
      found = *count;
  });
  return found;
}

}  // namespace engine::cli
