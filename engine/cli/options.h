// What the command line says. One struct per command; the options that commands share are one too.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "bench/bench.h"
#include "lane/server.h"
#include "runtime/engine.h"

namespace engine::cli {

// Which engine to run.
struct EngineSettings {
  std::filesystem::path model;
  std::string backend = "auto";
  std::size_t threads = 0;  // 0: one per core
  bool row_invariant = false;
  bool verbose = false;
  std::size_t context = 0;        // 0: the model's, at most 4,096
  runtime::EngineOptions engine;  // prompt_rows 0: by the model
};

// A prompt of `run`: text, a chat as JSON messages, or token ids as a JSON array.
struct PromptSource {
  enum class Kind { kText, kTextFile, kChatFile, kTokenFile } kind;
  std::string value;  // the text, or a path; "-" is standard input
};

struct RunSettings {
  EngineSettings engine;
  std::vector<PromptSource> prompts;
  runtime::GenerateParams params;
  std::filesystem::path logits;  // file for the prompt's logits; empty: none
  bool ignore_stop = false;
  bool json = false;
};

struct ChatSettings {
  EngineSettings engine;
  std::string system;  // the system message; empty: none
  runtime::GenerateParams params;
  bool json = false;
};

struct DigestSettings {
  EngineSettings engine;
  std::vector<std::size_t> lengths;  // empty: around every tiling switch
  std::size_t tokens = 12;
  bool json = false;
};

struct KvDiffSettings {
  EngineSettings engine;
  std::filesystem::path text;    // empty: the built-in sample
  std::size_t first_tokens = 0;  // 0: prompt_rows + 100
  std::size_t reply_tokens = 24;
  std::size_t suffix_tokens = 0;  // 0: prompt_rows / 4
  std::size_t draft_tokens = 3;
  bool json = false;
};

struct InfoSettings {
  EngineSettings engine;
  bool json = false;
};

// Of a random model of Llama-3-8B's shape.
struct BenchSettings {
  std::string backend = "auto";
  std::size_t layers = 32;
  bool row_invariant = false;
  bool small = false;  // every size divided by 16
  bool json = false;
  bench::Settings bench;
};

// The live lane over HTTP.
struct ServeSettings {
  EngineSettings engine;
  lane::ServerOptions server;
  lane::Service::Limits limits;
  std::chrono::milliseconds grace{10000};  // for the running request at the end
  std::filesystem::path api_key_file;
  std::string name;                  // empty: the model folder's
  std::vector<std::string> aliases;  // other names for clients
  std::string tool_format;  // the notation of tool calls; empty: as the model's template says
  runtime::GenerateParams params;  // drafting and acceptance
};

// Of a model's tokenizer; no weights are read.
struct TokenizeSettings {
  std::filesystem::path model;     // a folder, or a tokenizer.json; empty: the built-in model
  std::vector<std::string> texts;  // empty: requests from standard input
};

struct InitModelSettings {
  std::string preset = "micro";
  std::uint64_t seed = 0;
  bool force = false;
  std::filesystem::path directory;
};

}  // namespace engine::cli
