#include "cli/cli.h"

#include <exception>
#include <ostream>

#include "cli/commands.h"
#include "cli/parse.h"
#include "model/init_model.h"

namespace engine::cli {
namespace {

struct Dispatch {
  const Streams& streams;

  int operator()(const RunSettings& settings) const { return run_command(settings, streams); }
  int operator()(const ChatSettings& settings) const { return chat_command(settings, streams); }
  int operator()(const DigestSettings& settings) const { return digest_command(settings, streams); }
  int operator()(const KvDiffSettings& settings) const {
    return kv_diff_command(settings, streams);
  }
  int operator()(const InfoSettings& settings) const { return info_command(settings, streams); }
  int operator()(const BenchSettings& settings) const { return bench_command(settings, streams); }
  int operator()(const ServeSettings& settings) const { return serve_command(settings, streams); }
  int operator()(const TokenizeSettings& settings) const {
    return tokenize_command(settings, streams);
  }
  int operator()(const InitModelSettings& settings) const {
    return init_model_command(settings, streams);
  }
};

}  // namespace

int init_model_command(const InitModelSettings& settings, const Streams& streams) {
  model::init_model(settings.preset, settings.directory,
                    {.seed = settings.seed, .force = settings.force});
  streams.out << "wrote " << settings.preset << " model, seed " << settings.seed << ", to "
              << settings.directory.string() << "\n";
  return kOk;
}

int run_cli(std::span<const char* const> args, const Streams& streams) {
  const std::variant<Command, int> parsed = parse_command_line(args, streams);
  if (const int* code = std::get_if<int>(&parsed)) return *code;
  try {
    return std::visit(Dispatch{streams}, std::get<Command>(parsed));
  } catch (const std::exception& error) {
    streams.err << "engine: " << error.what() << "\n";
    return kFailed;
  }
}

}  // namespace engine::cli
