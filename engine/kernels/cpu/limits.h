// Sizes that the CPU backend keeps on its stack.
#pragma once

#include <cstddef>

namespace engine::kernels::cpu {

inline constexpr std::size_t kMaxHeadSize = 512;
inline constexpr std::size_t kMaxKeySize = 1024;  // of attention; latent ones are wider than heads

}  // namespace engine::kernels::cpu
