#include "kernels/cuda/device/driver.h"
#include "kernels/cuda/device/page_lock.h"

namespace engine::kernels::cuda {

void lock_pages(std::byte* memory, std::size_t bytes) {
  ENGINE_CUDA_CHECK(cudaHostRegister(memory, bytes, cudaHostRegisterPortable));
}

void unlock_pages(std::byte* memory) {
  cudaHostUnregister(memory);
}

}  // namespace engine::kernels::cuda
