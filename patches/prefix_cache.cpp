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

bool environment_flag(const char* variable, bool fallback) {
  const char* value = std::getenv(variable);
  if (value == nullptr) return fallback;
  if (std::string_view(value) == "0") return false;
  if (std::string_view(value) == "1") return true;
  throw RequestError(std::string(variable) + " is \"" + value + "\"; it must be 0 or 1");
}

void PrefixCache::keep(std::size_t rows) {
  record_.resize(std::min(rows, record_.size()));
}

void PrefixCache::remember(std::span<const Token> prompt, std::span<const Token> reply) {
  if (!enabled_ || reply.empty()) return;
  record_.assign(prompt.begin(), prompt.end());
  record_.insert(record_.end(), reply.begin(), reply.end() - 1);
}

}  // namespace engine::runtime
