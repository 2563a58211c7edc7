#include "kernels/cuda/device/self_check.h"

#include <bit>
#include <cstdint>
#include <iterator>

#include "kernels/cuda/device/instructions.cuh"

namespace engine::kernels::cuda {
namespace {

// a, b, c, d of each vector as little-endian words.
constexpr std::uint32_t kGoldenWords[] = {
#include "kernels/cuda/device/golden.inc"
};
static_assert(sizeof kGoldenWords % sizeof(GoldenVector) == 0);

// ---- Kernels

// One warp a vector: a is row 0 of the fragment's A, b is column 0 of its B.
__global__ void multiply_kernel(float* out, const GoldenVector* vectors) {
  const GoldenVector& v = vectors[blockIdx.x];
  const auto* pairs_a = reinterpret_cast<const std::uint32_t*>(v.a);
  const auto* pairs_b = reinterpret_cast<const std::uint32_t*>(v.b);
  const unsigned lane = threadIdx.x;
  std::uint32_t a[4] = {}, b[2] = {};
  float c[4] = {};
  if (lane < 4) {
    a[0] = pairs_a[lane];
    a[2] = pairs_a[lane + 4];
    b[0] = pairs_b[lane];
    b[1] = pairs_b[lane + 4];
  }
  if (lane == 0) c[0] = v.c;
  multiply_16x8x16(c, a, b[0], b[1]);
  if (lane == 0) out[blockIdx.x] = c[0];
}

}  // namespace

// ---- Launchers

std::span<const GoldenVector> golden_vectors() {
  constexpr std::size_t kWords = sizeof(GoldenVector) / sizeof(std::uint32_t);
  return {reinterpret_cast<const GoldenVector*>(kGoldenWords), std::size(kGoldenWords) / kWords};
}

std::vector<float> multiply_on_device(std::span<const GoldenVector> vectors, cudaStream_t stream) {
  const DeviceMemory in(vectors.size_bytes()), out(vectors.size() * sizeof(float));
  std::vector<float> results(vectors.size());
  ENGINE_CUDA_CHECK(
      cudaMemcpyAsync(in.data(), vectors.data(), in.size(), cudaMemcpyHostToDevice, stream));
  multiply_kernel<<<static_cast<unsigned>(vectors.size()), kWarp, 0, stream>>>(
      reinterpret_cast<float*>(out.data()), reinterpret_cast<const GoldenVector*>(in.data()));
  ENGINE_CUDA_CHECK(cudaGetLastError());
  ENGINE_CUDA_CHECK(
      cudaMemcpyAsync(results.data(), out.data(), out.size(), cudaMemcpyDeviceToHost, stream));
  ENGINE_CUDA_CHECK(cudaStreamSynchronize(stream));
  return results;
}

bool rounds_as_modelled(cudaStream_t stream) {
  const std::span<const GoldenVector> vectors = golden_vectors();
  const std::vector<float> results = multiply_on_device(vectors, stream);
  for (std::size_t i = 0; i < vectors.size(); ++i) {
    if (std::bit_cast<std::uint32_t>(results[i]) != std::bit_cast<std::uint32_t>(vectors[i].d))
      return false;
  }
  return true;
}

}  // namespace engine::kernels::cuda
