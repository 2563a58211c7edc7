#include <string>

#include "kernels/cpu/backend.h"
#include "kernels/ops.h"
#if defined(ENGINE_HAS_CUDA)
#include "kernels/cuda/backend.h"
#endif

namespace engine::kernels {
namespace {

#if defined(ENGINE_HAS_CUDA)
bool cuda_device_present() {
  return cuda::device_present();
}
std::unique_ptr<Backend> make_cuda(const BackendOptions& options) {
  return cuda::make_backend(options);
}
#else
bool cuda_device_present() {
  return false;
}
std::unique_ptr<Backend> make_cuda(const BackendOptions&) {
  throw BackendError("backend 'cuda' is not in this build: configure with -DENGINE_CUDA=ON");
}
#endif

}  // namespace

std::unique_ptr<Backend> make_backend(std::string_view name, const BackendOptions& options) {
  if (name == "cpu") return cpu::make_backend(options);
  if (name == "cuda") return make_cuda(options);
  if (name == "auto") {
    return cuda_device_present() ? make_cuda(options) : cpu::make_backend(options);
  }
  throw BackendError("unknown backend '" + std::string(name) + "': cpu, cuda or auto");
}

}  // namespace engine::kernels
