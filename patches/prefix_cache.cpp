#include "prefix_cache.h"

#include <algorithm>
#include <cstdlib>
#include <string>

#include "runtime/error.h"

namespace engine::runtime {

using kernels::Token;

std::size_t longest_common_prefix(std::span<const Token> a, std::span<const Token> b) {
  const auto [end, unused] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  return static_cast<std::size_t>(end - a.begin());
}

std::string_view name(ReuseBound bound) {
  switch (bound) {
    case ReuseBound::kEmpty:
      return "empty";
    case ReuseBound::kLcp:
      return "lcp";
    case ReuseBound::kCanonicalEnd:
      return "canonical_end";
    case ReuseBound::kLastToken:
      return "last_token";
    case ReuseBound::kGrid:
      return "grid";
  }
  return "unknown";
}

Reuse bound_reuse(std::size_t common, std::size_t canonical_end, std::size_t prompt_tokens,
                  std::size_t grid) {
  const std::size_t rows = std::min({common, canonical_end, prompt_tokens - 1});
  const std::size_t offset = rows / grid * grid;
  ReuseBound bound = ReuseBound::kLastToken;
  if (rows == canonical_end) bound = ReuseBound::kCanonicalEnd;
  if (rows == common) bound = ReuseBound::kLcp;
  if (rows > 0 && offset == 0) bound = ReuseBound::kGrid;
  return {offset, common, bound};
}

bool environment_flag(const char* variable, bool fallback) {
  const char* value = std::getenv(variable);
  if (value == nullptr) return fallback;
  if (std::string_view(value) == "0") return false;
  if (std::string_view(value) == "1") return true;
  throw RequestError(std::string(variable) + " is \"" + value + "\"; it must be 0 or 1");
}

void PrefixCache::keep(std::size_t rows) {
  record_.resize(std::min(rows, record_.size()));
  canonical_end_ = std::min(canonical_end_, record_.size());
}

void PrefixCache::extend_prefilled(std::span<const Token> prompt, std::size_t complete) {
  if (!enabled_) return;
  const std::span<const Token> added = prompt.first(complete).subspan(record_.size());
  record_.insert(record_.end(), added.begin(), added.end());
  canonical_end_ = record_.size();
}

void PrefixCache::extend_decoded(std::span<const Token> reply) {
  if (!enabled_ || reply.empty()) return;
  record_.insert(record_.end(), reply.begin(), reply.end() - 1);
}

Reuse PrefixCache::plan(std::span<const Token> prompt, std::size_t grid) const {
  if (!enabled_ || record_.empty()) return {};
  return bound_reuse(longest_common_prefix(record_, prompt), canonical_end_, prompt.size(), grid);
}

}  // namespace engine::runtime
