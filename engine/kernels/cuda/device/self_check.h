// Does this device's matrix unit round as the H200's, which numerics/fused16.h models?
#pragma once

#include <span>
#include <vector>

#include "kernels/cuda/device/driver.h"

namespace engine::kernels::cuda {

// One fused16 and what the H200 returned for it.
struct GoldenVector {
  bf16 a[16], b[16];
  float c, d;
};

// 128 of the vectors in tests/data/mma_bf16_h200.bin.
std::span<const GoldenVector> golden_vectors();

// fused16(c, a, b) of each vector, by mma.sync. Waits for the stream.
std::vector<float> multiply_on_device(std::span<const GoldenVector> vectors, cudaStream_t stream);

// True if the device returns golden_vectors()'s d, bit for bit. Where it does not, cuda and cpu may
// differ on this device; a cached run still equals a cold one.
bool rounds_as_modelled(cudaStream_t stream);

}  // namespace engine::kernels::cuda
