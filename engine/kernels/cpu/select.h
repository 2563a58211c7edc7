// The two largest logits of each row: see Backend::top2.
#pragma once

#include "kernels/cpu/threads.h"
#include "kernels/ops.h"

namespace engine::kernels::cpu {

// logits [out.size(), vocabulary].  REQUIRES: vocabulary >= 2.
void top2(std::span<Top2> out, const float* logits, std::size_t vocabulary, Threads& threads);

}  // namespace engine::kernels::cpu
