// The host side of the incremental KV prefix cache: what the lane's buffer holds.
//
// One conversation is cached: the buffer's rows are the cache, and this record says which tokens
// they are for.
//
// Goals: the record never says more than the buffer holds, whatever throws or is cancelled; token
// ids are compared, never hashes. Not a goal: several conversations, or rows shifted to other
// positions.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "kernels/ops.h"

namespace engine::runtime {

// How many leading tokens `a` and `b` share.
std::size_t longest_common_prefix(std::span<const kernels::Token> a,
                                  std::span<const kernels::Token> b);

// An environment variable that is "0" or "1"; `fallback` if unset. Throws RequestError naming the
// variable for any other value.
bool environment_flag(const char* variable, bool fallback);

// The tokens whose rows the buffer holds.
class PrefixCache {
 public:
  explicit PrefixCache(bool enabled) : enabled_(enabled) {}

  bool enabled() const { return enabled_; }
  std::span<const kernels::Token> record() const { return record_; }

  // Cuts the record to its first `rows` tokens. Call before the first write of a run, so that a run
  // that fails leaves a record of rows that are still there.
  void keep(std::size_t rows);

  // A run has left the rows of `prompt` and of all reply tokens but the last in the buffer. An
  // empty reply changes nothing: nobody knows how far its run came.
  void remember(std::span<const kernels::Token> prompt, std::span<const kernels::Token> reply);

 private:
  bool enabled_;
  std::vector<kernels::Token> record_;
};

}  // namespace engine::runtime
