// Host memory that a backend copies to and from at full speed: page-locked for a GPU, which then
// needs no copy in between.
#pragma once

#include <cstddef>
#include <string_view>

namespace engine::kernels {

class HostMemory {
 public:
  // Zeros, for the backend of this name. Throws BackendError with the bytes asked and those that
  // the machine has, or with what the driver says.
  HostMemory(std::string_view backend, std::size_t bytes);
  HostMemory(const HostMemory&) = delete;
  HostMemory& operator=(const HostMemory&) = delete;
  ~HostMemory();

  std::byte* data() const { return data_; }
  std::size_t size() const { return bytes_; }

 private:
  void lock_pages(std::string_view backend);

  std::byte* data_ = nullptr;
  std::size_t bytes_;
  bool locked_ = false;
};

}  // namespace engine::kernels
