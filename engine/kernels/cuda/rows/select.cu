#include <algorithm>
#include <cstdint>

#include "kernels/cuda/device/instructions.cuh"
#include "kernels/cuda/rows/select.h"

namespace engine::kernels::cuda {
namespace {

constexpr unsigned kThreads = 256;
constexpr unsigned kParts = 32;         // blocks that share a row
constexpr std::size_t kSelectRows = 8;  // rows of one launch

struct Candidate {
  float logit;
  Token token;
};

struct Pair {
  Candidate best, second;
};

// ---- Kernels

__device__ bool beats(const Candidate& a, const Candidate& b) {
  return a.logit > b.logit || (a.logit == b.logit && a.token < b.token);
}

__device__ void take(Pair& pair, const Candidate& c) {
  if (beats(c, pair.best)) {
    pair.second = pair.best;
    pair.best = c;
  } else if (beats(c, pair.second)) {
    pair.second = c;
  }
}

__device__ Pair nothing() {
  const Candidate none{__int_as_float(0xff800000), INT32_MAX};
  return {none, none};
}

__device__ Candidate from_lane(const Candidate& c, unsigned distance) {
  return {__shfl_xor_sync(~0u, c.logit, distance), __shfl_xor_sync(~0u, c.token, distance)};
}

__device__ Pair warp_best(Pair pair) {
  for (unsigned distance = kWarp / 2; distance > 0; distance /= 2) {
    const Pair other{from_lane(pair.best, distance), from_lane(pair.second, distance)};
    take(pair, other.best);
    take(pair, other.second);
  }
  return pair;
}

// blockIdx.x is the row, blockIdx.y one of kParts parts of it.
__global__ void __launch_bounds__(kThreads)
    top2_parts_kernel(Pair* parts, const float* logits, unsigned vocabulary) {
  __shared__ Pair warps[kThreads / kWarp];
  let_next_begin();
  wait_for_previous();
  logits += std::size_t{blockIdx.x} * vocabulary;
  Pair pair = nothing();
  for (unsigned i = blockIdx.y * kThreads + threadIdx.x; i < vocabulary; i += kParts * kThreads)
    take(pair, {logits[i], static_cast<Token>(i)});
  pair = warp_best(pair);
  if (threadIdx.x % kWarp == 0) warps[threadIdx.x / kWarp] = pair;
  __syncthreads();
  if (threadIdx.x >= kWarp) return;
  pair = threadIdx.x < kThreads / kWarp ? warps[threadIdx.x] : nothing();
  pair = warp_best(pair);
  if (threadIdx.x == 0) parts[blockIdx.x * kParts + blockIdx.y] = pair;
}

__global__ void __launch_bounds__(kWarp) top2_kernel(Top2* out, const Pair* parts) {
  static_assert(kParts == kWarp);
  let_next_begin();
  wait_for_previous();
  const Pair pair = warp_best(parts[blockIdx.x * kParts + threadIdx.x]);
  if (threadIdx.x == 0) out[blockIdx.x] = {pair.best.token, pair.second.token};
}

}  // namespace

// ---- Launchers

Select::Select() : partial_(kSelectRows * kParts * sizeof(Pair)) {
  ENGINE_CUDA_CHECK(cudaMallocHost(&results_, kSelectRows * sizeof(Top2)));
}

Select::~Select() {
  cudaFreeHost(results_);
}

void Select::top2(std::span<Top2> out, const float* logits, std::size_t vocabulary,
                  cudaStream_t stream) {
  auto* parts = reinterpret_cast<Pair*>(partial_.data());
  while (!out.empty()) {
    const std::size_t rows = std::min(out.size(), kSelectRows);
    launch(stream, {.grid = dim3(static_cast<unsigned>(rows), kParts), .threads = kThreads},
           top2_parts_kernel, parts, logits, static_cast<unsigned>(vocabulary));
    launch(stream, {.grid = dim3(static_cast<unsigned>(rows)), .threads = kWarp}, top2_kernel,
           results_, parts);
    ENGINE_CUDA_CHECK(cudaStreamSynchronize(stream));
    std::copy_n(results_, rows, out.begin());
    logits += rows * vocabulary;
    out = out.subspan(rows);
  }
}

}  // namespace engine::kernels::cuda
