// The CUDA backend: the operations of ops.h on one GPU, on one stream.
#pragma once

#include <memory>

#include "kernels/ops.h"

namespace engine::kernels::cuda {

// A device that this build's code runs on: compute capability 9.0.
bool device_present();

// On the first such device. Checks the device's matrix unit against known answers; `device()` says
// so when it rounds otherwise, and nothing is refused: results are still reproducible on that
// device, they are just not the CPU backend's.
// Throws BackendError if there is no driver or no device.
std::unique_ptr<Backend> make_backend(const BackendOptions& options);

}  // namespace engine::kernels::cuda
