// Layers with experts: see Backend::route and what follows it.
#pragma once

#include "kernels/cuda/products/matrix.h"

namespace engine::kernels::cuda {

// The experts' matrices, one below the other in one.
class DeviceExperts final : public ExpertMatrices {
 public:
  DeviceExperts(std::span<const MatrixPart> parts, std::size_t inner, std::size_t experts,
                cudaStream_t stream)
      : experts_(experts), stacked_(parts, inner, stream) {}

  std::size_t experts() const override { return experts_; }
  std::size_t outputs() const override { return stacked_.outputs() / experts_; }
  std::size_t inner() const override { return stacked_.inner(); }
  const DeviceMatrix& stacked() const { return stacked_; }

 private:
  std::size_t experts_;
  DeviceMatrix stacked_;
};

void route(const Routes& out, const RouteArgs& args, std::size_t rows, cudaStream_t stream);
void gather(bf16* out, const bf16* x, const RoutedRows& routed, std::size_t hidden,
            cudaStream_t stream);
// `split` is that of each product: a power of two, at most 16.
void matmul_experts(float* out, const bf16* x, const DeviceExperts& w, const RoutedRows& routed,
                    std::size_t split, cudaStream_t stream);
void mix(float* out, const float* x, const RoutedRows& routed, std::size_t hidden,
         cudaStream_t stream);

}  // namespace engine::kernels::cuda
