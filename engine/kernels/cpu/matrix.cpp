#include "kernels/cpu/matrix.h"

#include <algorithm>
#include <cassert>

namespace engine::kernels::cpu {
namespace {

std::size_t count_outputs(std::span<const MatrixPart> parts) {
  std::size_t n = 0;
  for (const MatrixPart& part : parts)
    n += part.n;
  return n;
}

}  // namespace

PanelMatrix::PanelMatrix(std::span<const MatrixPart> parts, std::size_t inner, Threads& threads)
    : outputs_(count_outputs(parts)), inner_(inner), panels_(panels() * inner * kPanel) {
  assert(inner % 16 == 0 && outputs_ > 0);
  std::vector<const bf16*> rows;
  for (const MatrixPart& part : parts) {
    for (std::size_t n = 0; n < part.n; ++n)
      rows.push_back(part.weights + n * inner);
  }
  threads.for_range(panels(), kPanel * inner, [&](std::size_t begin, std::size_t end) {
    for (std::size_t n = begin * kPanel; n < std::min(end * kPanel, outputs_); ++n) {
      bf16* column = &panels_[n / kPanel * inner * kPanel + n % kPanel];
      for (std::size_t k = 0; k < inner; ++k)
        column[k * kPanel] = rows[n][k];
    }
  });
}

}  // namespace engine::kernels::cpu
