// Philox4x32-10, a counter-based random number generator: the draw of a position depends on the
// seed and the position only, so a replay or a resumed run draws the same numbers.
//
// Source: Salmon, Moraes, Dror, Shaw, "Parallel Random Numbers: As Easy as 1, 2, 3", SC 2011;
// constants and known answers from their Random123 library.
#pragma once

#include <array>
#include <cstdint>

namespace engine::numerics {

using PhiloxBlock = std::array<std::uint32_t, 4>;
using PhiloxKey = std::array<std::uint32_t, 2>;

constexpr PhiloxBlock philox4x32_10(PhiloxBlock counter, PhiloxKey key) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t p0 = std::uint64_t{0xD2511F53} * counter[0];
    const std::uint64_t p1 = std::uint64_t{0xCD9E8D57} * counter[2];
    counter = {
        static_cast<std::uint32_t>(p1 >> 32) ^ counter[1] ^ key[0], static_cast<std::uint32_t>(p1),
        static_cast<std::uint32_t>(p0 >> 32) ^ counter[3] ^ key[1], static_cast<std::uint32_t>(p0)};
    key[0] += 0x9E3779B9;
    key[1] += 0xBB67AE85;
  }
  return counter;
}

constexpr PhiloxBlock philox(std::uint64_t seed, std::uint64_t position) {
  return philox4x32_10(
      {static_cast<std::uint32_t>(position), static_cast<std::uint32_t>(position >> 32), 0, 0},
      {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)});
}

// In [0, 1), a multiple of 2^-24: every value is an exact float.
constexpr float uniform(std::uint64_t seed, std::uint64_t position) {
  return static_cast<float>(philox(seed, position)[0] >> 8) * 0x1p-24f;
}

}  // namespace engine::numerics
