#include "runtime/digest.h"

#include <fmt/format.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace engine::runtime {

struct Digest::State {
  XXH3_state_t hash{};
};

Digest::Digest() : state_(std::make_unique<State>()) {
  XXH3_128bits_reset(&state_->hash);
}
Digest::~Digest() = default;

void Digest::add(std::span<const std::byte> bytes) {
  XXH3_128bits_update(&state_->hash, bytes.data(), bytes.size());
}

std::string Digest::hex() const {
  const XXH128_hash_t hash = XXH3_128bits_digest(&state_->hash);
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

}  // namespace engine::runtime
