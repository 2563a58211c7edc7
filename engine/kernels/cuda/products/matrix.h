// Weights of the CUDA backend: row-major [N, K], as they are stored, so that the copy engine can
// cut tiles for every kernel from one copy.
#pragma once

#include <span>

#include "kernels/cuda/device/driver.h"
#include "kernels/ops.h"

namespace engine::kernels::cuda {

// Outputs and inner elements of the tiles that a matrix product streams.
inline constexpr std::size_t kTileOutputs = 128;
inline constexpr std::size_t kTileInner = 64;

class DeviceMatrix final : public Matrix {
 public:
  // Returns once the parts are copied.
  DeviceMatrix(std::span<const MatrixPart> parts, std::size_t inner, cudaStream_t stream);

  std::size_t outputs() const override { return outputs_; }
  std::size_t inner() const override { return inner_; }
  const bf16* data() const { return reinterpret_cast<const bf16*>(weights_.data()); }
  // Boxes of kTileOutputs x kTileInner.
  const CUtensorMap& map() const { return map_; }
  // Boxes of half as many outputs.
  const CUtensorMap& half_map() const { return half_map_; }

 private:
  std::size_t outputs_, inner_;
  DeviceMemory weights_;
  CUtensorMap map_, half_map_;
};

}  // namespace engine::kernels::cuda
