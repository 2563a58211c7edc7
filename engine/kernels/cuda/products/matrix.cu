#include <cassert>

#include "kernels/cuda/products/matrix.h"

namespace engine::kernels::cuda {
namespace {

std::size_t count_outputs(std::span<const MatrixPart> parts) {
  std::size_t n = 0;
  for (const MatrixPart& part : parts)
    n += part.n;
  return n;
}

}  // namespace

DeviceMatrix::DeviceMatrix(std::span<const MatrixPart> parts, std::size_t inner,
                           cudaStream_t stream)
    : outputs_(count_outputs(parts)), inner_(inner), weights_(outputs_ * inner * sizeof(bf16)) {
  assert(inner % 16 == 0 && outputs_ > 0);
  std::byte* next = weights_.data();
  for (const MatrixPart& part : parts) {
    const std::size_t bytes = part.n * inner * sizeof(bf16);
    ENGINE_CUDA_CHECK(cudaMemcpyAsync(next, part.weights, bytes, cudaMemcpyHostToDevice, stream));
    next += bytes;
  }
  ENGINE_CUDA_CHECK(cudaStreamSynchronize(stream));
  map_ = tile_map(data(), outputs_, inner_, kTileOutputs);
  half_map_ = tile_map(data(), outputs_, inner_, kTileOutputs / 2);
}

}  // namespace engine::kernels::cuda
