// Layers with experts: see Backend::route and what follows it.
#pragma once

#include <vector>

#include "kernels/cpu/matrix.h"

namespace engine::kernels::cpu {

class PanelExperts final : public ExpertMatrices {
 public:
  PanelExperts(std::span<const MatrixPart> parts, std::size_t inner, std::size_t experts,
               Threads& threads);

  std::size_t experts() const override { return matrices_.size(); }
  std::size_t outputs() const override { return matrices_[0].outputs(); }
  std::size_t inner() const override { return matrices_[0].inner(); }
  const PanelMatrix& operator[](std::size_t expert) const { return matrices_[expert]; }

 private:
  std::vector<PanelMatrix> matrices_;
};

void route(const Routes& out, const RouteArgs& args, std::size_t rows, Threads& threads);
void gather(bf16* out, const bf16* x, const RoutedRows& routed, std::size_t hidden,
            Threads& threads);
// `split` is that of each product.
void matmul_experts(float* out, const bf16* x, const PanelExperts& w, const RoutedRows& routed,
                    std::size_t split, Threads& threads);
void mix(float* out, const float* x, const RoutedRows& routed, std::size_t hidden,
         Threads& threads);

}  // namespace engine::kernels::cpu
