#include "kernels/host_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "kernels/ops.h"
#ifdef ENGINE_HAS_CUDA
#include "kernels/cuda/device/page_lock.h"
#endif

namespace engine::kernels {
namespace {

std::size_t machine_bytes() {
  return static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) *
         static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace

HostMemory::HostMemory(std::string_view backend, std::size_t bytes) : bytes_(bytes) {
  if (bytes == 0) return;
  // The system promises more than it has, and breaks the promise when the pages are written.
  if (bytes > machine_bytes())
    throw BackendError(std::to_string(bytes) +
                       " bytes of host memory are more than this machine's " +
                       std::to_string(machine_bytes()));
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED)
    throw BackendError(std::to_string(bytes) +
                       " bytes of host memory cannot be had: " + std::strerror(errno));
  data_ = static_cast<std::byte*>(memory);
  constexpr std::size_t kLarge = std::size_t{64} << 20;
  if (bytes >= kLarge) madvise(data_, bytes_, MADV_HUGEPAGE);  // fewer pages to lock
  try {
    lock_pages(backend);
  } catch (...) {
    munmap(data_, bytes_);
    throw;
  }
}

HostMemory::~HostMemory() {
#ifdef ENGINE_HAS_CUDA
  if (locked_) cuda::unlock_pages(data_);
#endif
  if (data_ != nullptr) munmap(data_, bytes_);
}

void HostMemory::lock_pages([[maybe_unused]] std::string_view backend) {
#ifdef ENGINE_HAS_CUDA
  if (backend != "cuda") return;
  cuda::lock_pages(data_, bytes_);
  locked_ = true;
#endif
}

}  // namespace engine::kernels
