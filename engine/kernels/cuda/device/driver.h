// Calls into the CUDA runtime: errors as BackendError, memory, kernel launches.
#pragma once

#include <cuda.h>
#include <cuda_runtime.h>

#include <cstddef>
#include <utility>

#include "kernels/ops.h"

namespace engine::kernels::cuda {

// Throws BackendError "file:line: call: what the driver says".
void check(cudaError_t status, const char* call, const char* file, int line);
#define ENGINE_CUDA_CHECK(call) ::engine::kernels::cuda::check(call, #call, __FILE__, __LINE__)

// Device memory, not cleared; freed on destruction.
class DeviceMemory {
 public:
  DeviceMemory() = default;
  // Throws BackendError with the bytes asked and those free.
  explicit DeviceMemory(std::size_t bytes);
  DeviceMemory(DeviceMemory&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
  DeviceMemory& operator=(DeviceMemory&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~DeviceMemory() { cudaFree(data_); }

  std::byte* data() const { return data_; }
  std::size_t size() const { return bytes_; }

 private:
  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
};

struct LaunchShape {
  dim3 grid;
  unsigned threads;
  std::size_t shared_bytes = 0;
  unsigned cluster = 1;  // thread blocks along x that form one cluster
};

// Launches kernel(args...) so that its beginning may overlap the end of the kernel before it:
// everything up to wait_for_previous() (device/instructions.cuh), which every kernel must call
// before it touches memory that another kernel writes or reads.
template <typename... Params, typename... Args>
void launch(cudaStream_t stream, const LaunchShape& shape, void (*kernel)(Params...),
            Args&&... args) {
  cudaLaunchAttribute attributes[2] = {};
  attributes[0].id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attributes[0].val.programmaticStreamSerializationAllowed = 1;
  attributes[1].id = cudaLaunchAttributeClusterDimension;
  attributes[1].val.clusterDim = {shape.cluster, 1, 1};
  cudaLaunchConfig_t config = {};
  config.gridDim = shape.grid;
  config.blockDim = dim3(shape.threads);
  config.dynamicSmemBytes = shape.shared_bytes;
  config.stream = stream;
  config.attrs = attributes;
  config.numAttrs = shape.cluster > 1 ? 2 : 1;
  ENGINE_CUDA_CHECK(
      cudaLaunchKernelEx(&config, kernel, static_cast<Params>(std::forward<Args>(args))...));
}

// Lets a kernel use more than 48 KiB of shared memory and clusters above 8. Costs a driver call, so
// launchers keep one in a static.
class LargeLaunches {
 public:
  template <typename Kernel>
  LargeLaunches(Kernel* kernel, std::size_t shared_bytes) {
    ENGINE_CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                           static_cast<int>(shared_bytes)));
    ENGINE_CUDA_CHECK(
        cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
  }
};

// Of the device that was current at the first call.
unsigned multiprocessors();

// Sizes as kernels take them.
inline unsigned narrow(std::size_t value) {
  return static_cast<unsigned>(value);
}

// How many clusters of `shape` the device holds at a time. Costs a driver call as well.
template <typename Kernel>
unsigned active_clusters(Kernel* kernel, const LaunchShape& shape) {
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim = {shape.cluster, 1, 1};
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(shape.cluster * multiprocessors());
  config.blockDim = dim3(shape.threads);
  config.dynamicSmemBytes = shape.shared_bytes;
  config.attrs = &attribute;
  config.numAttrs = 1;
  int count = 0;
  ENGINE_CUDA_CHECK(cudaOccupancyMaxActiveClusters(&count, kernel, &config));
  return static_cast<unsigned>(count);
}

// A view of a row-major bf16 matrix [rows, columns] for the bulk copy engine: boxes of
// `box_rows` x 64 elements, each row of 128 bytes swizzled; outside the matrix reads as zero.
// REQUIRES: base 16-byte aligned, columns a multiple of 16 bytes, box_rows <= 256.
CUtensorMap tile_map(const bf16* base, std::size_t rows, std::size_t columns, std::size_t box_rows);
// The same of float32: boxes of `box_rows` x 32.
CUtensorMap tile_map(const float* base, std::size_t rows, std::size_t columns,
                     std::size_t box_rows);

}  // namespace engine::kernels::cuda
