#include "kernels/cpu/select.h"

#include <utility>

namespace engine::kernels::cpu {
namespace {

Top2 top2_of_row(const float* logits, std::size_t vocabulary) {
  Token best = 0, second = 1;
  if (logits[1] > logits[0]) std::swap(best, second);
  for (std::size_t i = 2; i < vocabulary; ++i) {
    if (!(logits[i] > logits[second])) continue;  // ties stay with the lower id
    second = static_cast<Token>(i);
    if (logits[second] > logits[best]) std::swap(best, second);
  }
  return {best, second};
}

}  // namespace

void top2(std::span<Top2> out, const float* logits, std::size_t vocabulary, Threads& threads) {
  threads.for_range(out.size(), vocabulary, [&](std::size_t begin, std::size_t end) {
    for (std::size_t r = begin; r < end; ++r) {
      out[r] = top2_of_row(logits + r * vocabulary, vocabulary);
    }
  });
}

}  // namespace engine::kernels::cpu
