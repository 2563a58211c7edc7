#include <string>

#include "kernels/cuda/device/driver.h"

namespace engine::kernels::cuda {
namespace {

using EncodeTiled = decltype(&cuTensorMapEncodeTiled);

// Through the runtime, so that the program needs no libcuda to start.
EncodeTiled find_encode_tiled() {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSymbolNotFound;
  ENGINE_CUDA_CHECK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000,
                                                     cudaEnableDefault, &found));
  if (found != cudaDriverEntryPointSuccess) {
    throw BackendError("the CUDA driver has no cuTensorMapEncodeTiled; it needs CUDA 12 or later");
  }
  return reinterpret_cast<EncodeTiled>(function);
}

}  // namespace

void check(cudaError_t status, const char* call, const char* file, int line) {
  if (status == cudaSuccess) return;
  cudaGetLastError();  // a later call must not report this one again
  throw BackendError(std::string(file) + ":" + std::to_string(line) + ": " + call + ": " +
                     cudaGetErrorString(status));
}

DeviceMemory::DeviceMemory(std::size_t bytes) : bytes_(bytes) {
  const cudaError_t status = cudaMalloc(&data_, bytes == 0 ? 1 : bytes);
  if (status == cudaSuccess) return;
  cudaGetLastError();
  if (status != cudaErrorMemoryAllocation) {
    check(status, "cudaMalloc", __FILE__, __LINE__);
  }
  std::size_t free = 0, total = 0;
  ENGINE_CUDA_CHECK(cudaMemGetInfo(&free, &total));
  throw BackendError("out of GPU memory: " + std::to_string(bytes) + " bytes asked, " +
                     std::to_string(free) + " of " + std::to_string(total) + " free");
}

unsigned multiprocessors() {
  static const int count = [] {
    int device = 0, found = 0;
    ENGINE_CUDA_CHECK(cudaGetDevice(&device));
    ENGINE_CUDA_CHECK(cudaDeviceGetAttribute(&found, cudaDevAttrMultiProcessorCount, device));
    return found;
  }();
  return static_cast<unsigned>(count);
}

namespace {

struct Elements {
  CUtensorMapDataType type;
  std::size_t bytes;
  void* base;
};

CUtensorMap make_tile_map(const Elements& elements, std::size_t rows, std::size_t columns,
                          std::size_t box_rows) {
  static const EncodeTiled encode_tiled = find_encode_tiled();
  CUtensorMap map;
  const cuuint64_t sizes[] = {columns, rows};
  const cuuint64_t row_bytes[] = {columns * elements.bytes};
  const cuuint32_t box[] = {narrow(128 / elements.bytes), narrow(box_rows)};
  const cuuint32_t steps[] = {1, 1};
  const CUresult status =
      encode_tiled(&map, elements.type, 2, elements.base, sizes, row_bytes, box, steps,
                   CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                   CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (status != CUDA_SUCCESS) {
    throw BackendError("cuTensorMapEncodeTiled failed with " + std::to_string(status) +
                       " for a matrix of " + std::to_string(rows) + " x " +
                       std::to_string(columns) + ", boxes of " + std::to_string(box_rows));
  }
  return map;
}

}  // namespace

CUtensorMap tile_map(const bf16* base, std::size_t rows, std::size_t columns,
                     std::size_t box_rows) {
  return make_tile_map({CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, sizeof(bf16), const_cast<bf16*>(base)},
                       rows, columns, box_rows);
}

CUtensorMap tile_map(const float* base, std::size_t rows, std::size_t columns,
                     std::size_t box_rows) {
  return make_tile_map({CU_TENSOR_MAP_DATA_TYPE_FLOAT32, sizeof(float), const_cast<float*>(base)},
                       rows, columns, box_rows);
}

}  // namespace engine::kernels::cuda
