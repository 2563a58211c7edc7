// What each K split costs, on a card: the table from which numerics/split_k.h is chosen. Products
// of a Llama-3-8B's shapes at the row counts around the tiling's switches, us a launch; the split
// that split_k gives is marked *, one that the product cannot have is left out.
//
//   build/cuda/tests/benchmarks/bench_split_k
//
// Weights are taken from several matrices in turn, so that no cache holds them.
#include <cstdint>
#include <cstdio>
#include <memory>
#include <vector>

#include "kernels/cuda/products/matmul.h"
#include "numerics/split_k.h"

namespace {

using namespace engine::kernels;
using engine::kernels::cuda::DeviceMatrix;
using engine::kernels::cuda::DeviceMemory;

constexpr std::size_t kRows[] = {1, 8, 16, 32, 64, 128, 256, 512, 1024, 2048};
constexpr std::size_t kSplits[] = {1, 2, 4, 8, 16};
constexpr std::size_t kLaunches = 24;
constexpr std::size_t kCacheBytes = std::size_t{200} << 20;  // several times the card's 50 MB

struct Shape {
  const char* name;
  std::size_t outputs, inner;
  bool accumulate;
};
constexpr Shape kShapes[] = {{"qkv", 6144, 4096, false},
                             {"output", 4096, 4096, true},
                             {"gate_up", 28672, 4096, false},
                             {"down", 4096, 14336, true},
                             {"lm_head", 128256, 4096, false}};

class Timer {
 public:
  Timer() {
    ENGINE_CUDA_CHECK(cudaEventCreate(&start_));
    ENGINE_CUDA_CHECK(cudaEventCreate(&end_));
  }
  ~Timer() {
    cudaEventDestroy(start_);
    cudaEventDestroy(end_);
  }
  template <typename Call>
  double microseconds(Call&& call) {
    for (std::size_t i = 0; i < 4; ++i)
      call(i);
    ENGINE_CUDA_CHECK(cudaEventRecord(start_));
    for (std::size_t i = 0; i < kLaunches; ++i)
      call(i);
    ENGINE_CUDA_CHECK(cudaEventRecord(end_));
    ENGINE_CUDA_CHECK(cudaEventSynchronize(end_));
    float milliseconds = 0;
    ENGINE_CUDA_CHECK(cudaEventElapsedTime(&milliseconds, start_, end_));
    return milliseconds * 1e3 / kLaunches;
  }

 private:
  cudaEvent_t start_ = nullptr, end_ = nullptr;
};

// Of deviation about 0.02: zeros would draw less power, and the card would run faster than it does.
std::vector<bf16> random_values(std::size_t count) {
  std::vector<bf16> values(count);
  std::uint32_t state = 1;
  for (bf16& value : values) {
    state = state * 1664525 + 1013904223;
    value.bits = static_cast<std::uint16_t>(0x3c00 | (state >> 16 & 0x80ff));
  }
  return values;
}

bool possible(const Shape& shape, std::size_t split) {
  return shape.inner % (16 * split) == 0 && 64 * split <= shape.inner;
}

void measure(const Shape& shape, Timer& timer) {
  const std::vector<bf16> values = random_values(shape.outputs * shape.inner);
  const MatrixPart part{values.data(), shape.outputs};
  std::vector<std::unique_ptr<DeviceMatrix>> weights;
  for (std::size_t bytes = 0; bytes < kCacheBytes; bytes += values.size() * sizeof(bf16))
    weights.push_back(std::make_unique<DeviceMatrix>(std::span(&part, 1), shape.inner, nullptr));
  const std::size_t most = shape.outputs > 65536 ? 8 : kRows[std::size(kRows) - 1];
  const DeviceMemory x(most * shape.inner * sizeof(bf16)),
      out(most * shape.outputs * sizeof(float));
  ENGINE_CUDA_CHECK(cudaMemcpy(x.data(), random_values(most * shape.inner).data(), x.size(),
                               cudaMemcpyHostToDevice));
  ENGINE_CUDA_CHECK(cudaMemset(out.data(), 0, out.size()));
  for (const std::size_t rows : kRows) {
    if (rows > most) break;
    std::printf("%-8s %5zu", shape.name, rows);
    for (const std::size_t split : kSplits) {
      if (!possible(shape, split)) {
        std::printf("%12s", "");
        continue;
      }
      const double us = timer.microseconds([&](std::size_t i) {
        engine::kernels::cuda::matmul(
            {reinterpret_cast<float*>(out.data()), reinterpret_cast<const bf16*>(x.data()),
             *weights[i % weights.size()], nullptr, rows, split, shape.accumulate},
            nullptr);
      });
      const bool chosen = split == engine::numerics::split_k(rows, shape.outputs, shape.inner);
      std::printf(" %10.1f%c", us, chosen ? '*' : ' ');
    }
    std::printf("\n");
    std::fflush(stdout);
  }
}

}  // namespace

int main() try {
  std::printf("%-8s %5s", "product", "rows");
  for (const std::size_t split : kSplits)
    std::printf("%8s %2zu ", "split", split);
  std::printf("\n");
  Timer timer;
  for (const Shape& shape : kShapes)
    measure(shape, timer);
} catch (const BackendError& error) {
  std::fprintf(stderr, "bench_split_k: %s\n", error.what());
  return 1;
}
