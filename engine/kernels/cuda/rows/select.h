// The two largest logits of each row: see Backend::top2.
#pragma once

#include <span>

#include "kernels/cuda/device/driver.h"

namespace engine::kernels::cuda {

// Owns the memory through which the results reach the host.
class Select {
 public:
  Select();
  Select(const Select&) = delete;
  Select& operator=(const Select&) = delete;
  ~Select();

  // logits [out.size(), vocabulary].  Waits for the stream.  REQUIRES: vocabulary >= 2.
  void top2(std::span<Top2> out, const float* logits, std::size_t vocabulary, cudaStream_t stream);

 private:
  DeviceMemory partial_;     // the parts' candidates
  Top2* results_ = nullptr;  // page-locked host memory, [kSelectRows]
};

}  // namespace engine::kernels::cuda
