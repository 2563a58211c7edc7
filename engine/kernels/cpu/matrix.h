// Weights of the CPU backend: panels of 32 outputs, so that a vector holds neighbouring outputs at
// one k.
#pragma once

#include <span>
#include <vector>

#include "kernels/cpu/decoded.h"
#include "kernels/cpu/threads.h"
#include "kernels/ops.h"

namespace engine::kernels::cpu {

class PanelMatrix final : public Matrix {
 public:
  PanelMatrix(std::span<const MatrixPart> parts, std::size_t inner, Threads& threads);

  std::size_t outputs() const override { return outputs_; }
  std::size_t inner() const override { return inner_; }
  std::size_t panels() const { return (outputs_ + kPanel - 1) / kPanel; }
  // [K, 32]; columns beyond the last output are zero.
  const bf16* panel(std::size_t index) const { return &panels_[index * inner_ * kPanel]; }

 private:
  std::size_t outputs_, inner_;
  std::vector<bf16> panels_;
};

}  // namespace engine::kernels::cpu
