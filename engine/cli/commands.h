// The commands of the program. Each returns an ExitCode and throws what it cannot do.
#pragma once

#include "cli/cli.h"
#include "cli/options.h"

namespace engine::cli {

int run_command(const RunSettings& settings, const Streams& streams);
int chat_command(const ChatSettings& settings, const Streams& streams);
int digest_command(const DigestSettings& settings, const Streams& streams);
int kv_diff_command(const KvDiffSettings& settings, const Streams& streams);
int info_command(const InfoSettings& settings, const Streams& streams);
int bench_command(const BenchSettings& settings, const Streams& streams);
int serve_command(const ServeSettings& settings, const Streams& streams);
int tokenize_command(const TokenizeSettings& settings, const Streams& streams);
int init_model_command(const InitModelSettings& settings, const Streams& streams);

}  // namespace engine::cli
