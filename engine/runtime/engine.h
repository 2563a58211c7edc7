// The engine: one network, one lane, requests strictly in order.
#pragma once

#include <functional>
#include <mutex>
#include <string_view>

#include "runtime/error.h"
#include "runtime/generate.h"
#include "runtime/lane.h"

namespace engine::runtime {

enum class Severity { kInfo, kWarning };

struct EngineOptions {
  std::size_t context = 4096;     // KV rows: prompt and reply together
  std::size_t prompt_rows = 512;  // the largest prefill chunk
  // The drafter's ring. 0: room for a 1,024-token reply between two turns, so that the rows before
  // the next turn's suffix are still there.
  std::size_t ring_rows = 0;
  // Lines for the person who starts the engine; may be empty.
  std::function<void(Severity, std::string_view)> log;
};

struct Request {
  std::vector<kernels::Token> prompt;
  GenerateParams params;
};

class Engine {
 public:
  // Throws RequestError if the options do not fit the model or each other, BackendError if the
  // backend has no room. `network` must outlive the engine.
  Engine(const Network& network, const EngineOptions& options);

  // Runs one request; others wait. Throws RequestError, with its counts, before anything is touched
  // if the prompt is empty, exceeds the context or holds a token outside the vocabulary, or if a
  // parameter is out of range. A backend failure throws BackendError; the engine stays usable.
  Reply run(const Request& request, const Callbacks& callbacks = {});

  // For inspection between requests, never during one.
  const Lane& lane() const { return lane_; }

 private:
  void check(const Request& request) const;

  std::mutex running_;
  Lane lane_;
};

}  // namespace engine::runtime
