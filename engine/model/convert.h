// Weights of other dtypes, made bf16 on load. Internal. The roundings, all to nearest, ties to even
// (numerics::from_float), which is what transformers computes for the same files:
//
//   F32        one, to bf16; beyond bf16's range becomes infinity
//   F16        one, to bf16: an F16 is a float32 exactly
//   F8_E4M3,   two: float(fp8) * scale in float32, then to bf16. An FP8 is a float32 exactly; E4M3
//   F8_E5M2    is the form without infinities ("fn"), whose 0x7f and 0xff are NaN
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "model/safetensors.h"
#include "model/weight_scales.h"
#include "numerics/bf16.h"

namespace engine::model {

using numerics::bf16;

bool is_floating(std::string_view dtype);  // BF16, F16 or F32
bool is_fp8(std::string_view dtype);       // F8_E4M3 or F8_E5M2

// REQUIRES: is_floating(tensor.dtype).
std::vector<float> to_floats(const TensorView& tensor);

// Values as bf16 in memory of their own: whole pages, so that they can be given back one tensor at
// a time.
class ConvertedValues {
 public:
  ConvertedValues() = default;
  ConvertedValues(ConvertedValues&&) noexcept = default;
  ConvertedValues& operator=(ConvertedValues&&) noexcept;
  ~ConvertedValues();

  // REQUIRES: is_floating(tensor.dtype), or is_fp8 and scales that fit. The result is this
  // object's. Throws ModelError on `path` if there is no memory.
  const bf16* add(const TensorView& tensor, const WeightScales* scales,
                  const std::filesystem::path& path);

  // `values` are not read any more: the memory of their whole pages is given back, and zero if it
  // is read after all. Nothing for values that are not this object's.
  void discard(std::span<const std::byte> values) const;

 private:
  std::vector<std::span<std::byte>> blocks_;
};

}  // namespace engine::model
