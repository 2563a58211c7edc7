// sha256 over everything that the numerics contract promises: tokens, logits and KV rows.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/engine.h"

namespace engine::cli {

// Throws std::runtime_error if the cryptographic library fails.
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(const Sha256&) = delete;
  Sha256& operator=(const Sha256&) = delete;

  void add(const void* data, std::size_t bytes);
  template <typename T>
  void add(std::span<const T> values) {
    add(values.data(), values.size_bytes());
  }
  // 64 hex digits. Call once, last.
  std::string finish();

 private:
  struct Context;
  std::unique_ptr<Context> context_;
};

// Of one reply: its tokens, the logits each was chosen from, and the K and V rows of the prompt and
// of all reply tokens but the last, position by position, layers ascending. Little-endian.
// REQUIRES: the reply kept its logits and is the engine's latest.
std::string reply_digest(const runtime::Engine& engine, std::size_t prompt_tokens,
                         const runtime::Reply& reply);

}  // namespace engine::cli
