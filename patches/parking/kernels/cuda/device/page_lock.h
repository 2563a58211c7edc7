// Page-locks host memory, so that a GPU reads and writes it by itself.
#pragma once

#include <cstddef>

namespace engine::kernels::cuda {

// Throws BackendError with what the driver says.
void lock_pages(std::byte* memory, std::size_t bytes);
void unlock_pages(std::byte* memory);

}  // namespace engine::kernels::cuda
