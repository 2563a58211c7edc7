// Sizes that the CPU backend keeps on its stack.
#pragma once

#include <cstddef>

namespace engine::kernels::cpu {

inline constexpr std::size_t kMaxHeadSize = 512;

}  // namespace engine::kernels::cpu
