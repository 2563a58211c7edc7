// The host side of the incremental KV prefix cache: what the lane's buffer holds, and how much of
// it a new prompt may keep.
//
// One conversation is cached: the buffer's rows are the cache, and this record says which tokens
// they are for. Two invariants make a resumed run equal a cold one, bit for bit:
//   1. chunking is a function of position only (the grid), so a kept row was computed in a launch
//   of
//      the same shape as a cold run's;
//   2. reuse ends at the canonical end: rows that decode wrote do not have prefill's bits.
//
// Goals: the record never says more than the buffer holds, whatever throws or is cancelled; token
// ids are compared, never hashes. Not a goal: several conversations, or rows shifted to other
// positions.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "kernels/ops.h"

namespace engine::runtime {

// How many leading tokens `a` and `b` share.
std::size_t longest_common_prefix(std::span<const kernels::Token> a,
                                  std::span<const kernels::Token> b);

// What ended the reuse.
enum class ReuseBound {
  kEmpty,         // nothing is recorded, or the cache is off
  kLcp,           // the prompt differs from the record there
  kCanonicalEnd,  // the rows after it were written by decode
  kLastToken,     // the prompt's last row is always computed: its logits are needed
  kGrid,          // what is common does not fill one grid cell
};

std::string_view name(ReuseBound bound);

struct Reuse {
  std::size_t offset = 0;  // rows [0, offset) are kept
  std::size_t common = 0;  // longest common prefix: where record and prompt first differ
  ReuseBound bound = ReuseBound::kEmpty;
};

// floor(min(common, canonical_end, prompt_tokens - 1) / grid) * grid, and which of them decided;
// the first in that order where they tie. REQUIRES: prompt_tokens >= 1; grid >= 1.
Reuse bound_reuse(std::size_t common, std::size_t canonical_end, std::size_t prompt_tokens,
                  std::size_t grid);

// An environment variable that is "0" or "1"; `fallback` if unset. Throws RequestError naming the
// variable for any other value.
bool environment_flag(const char* variable, bool fallback);

// The tokens whose rows the buffer holds.
class PrefixCache {
 public:
  explicit PrefixCache(bool enabled) : enabled_(enabled) {}

  bool enabled() const { return enabled_; }
  std::span<const kernels::Token> record() const { return record_; }
  // Leading rows that prefill wrote for the recorded tokens.
  std::size_t canonical_end() const { return canonical_end_; }

  // Cuts the record to its first `rows` tokens. Call before the first write of a run, so that a run
  // that fails leaves a record of rows that are still there.
  void keep(std::size_t rows);

  // Rows up to `complete` of `prompt` are now in the buffer, written by prefill.
  // REQUIRES: the record is a prefix of `prompt`, no longer than `complete`.
  void extend_prefilled(std::span<const kernels::Token> prompt, std::size_t complete);

  // The reply's rows, all but the last token's, are in the buffer, written by decode. An empty
  // reply changes nothing.
  void extend_decoded(std::span<const kernels::Token> reply);

  // How much of the buffer `prompt` may keep. REQUIRES: !prompt.empty(); grid >= 1.
  Reuse plan(std::span<const kernels::Token> prompt, std::size_t grid) const;

 private:
  bool enabled_;
  std::vector<kernels::Token> record_;
  std::size_t canonical_end_ = 0;
};

}  // namespace engine::runtime
