#include "model/convert.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

namespace engine::model {
namespace {

template <typename T>
T load(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

// Of a small floating-point number with `fraction` fraction bits, as IEEE has it.
float small_float(unsigned magnitude, unsigned fraction, int bias) {
  const unsigned field = magnitude >> fraction;
  const auto significand = static_cast<float>(magnitude & ((1U << fraction) - 1));
  const int scale = static_cast<int>(fraction) + bias;
  if (field == 0) return std::ldexp(significand, 1 - scale);
  return std::ldexp(significand + static_cast<float>(1U << fraction),
                    static_cast<int>(field) - scale);
}

float from_f16(std::uint16_t bits) {
  const unsigned magnitude = bits & 0x7fffU;
  constexpr unsigned kInfinity = 0x7c00;
  float value = magnitude < kInfinity    ? small_float(magnitude, 10, 15)
                : magnitude == kInfinity ? std::numeric_limits<float>::infinity()
                                         : std::numeric_limits<float>::quiet_NaN();
  return (bits & 0x8000U) != 0 ? -value : value;
}

float from_e4m3(unsigned bits) {
  const unsigned magnitude = bits & 0x7fU;
  const float value =
      magnitude == 0x7f ? std::numeric_limits<float>::quiet_NaN() : small_float(magnitude, 3, 7);
  return (bits & 0x80U) != 0 ? -value : value;
}

// The upper byte of an F16.
float from_e5m2(unsigned bits) {
  return from_f16(static_cast<std::uint16_t>(bits << 8U));
}

// An F16's or FP8's value by its bits.
const std::vector<float>& table_of(std::string_view dtype) {
  const auto filled = [](std::size_t size, const auto& value) {
    std::vector<float> table(size);
    for (std::size_t bits = 0; bits < size; ++bits)
      table[bits] = value(static_cast<unsigned>(bits));
    return table;
  };
  static const std::vector<float> f16 =
      filled(1U << 16U, [](unsigned bits) { return from_f16(static_cast<std::uint16_t>(bits)); });
  static const std::vector<float> e4m3 = filled(256, from_e4m3), e5m2 = filled(256, from_e5m2);
  if (dtype == "F16") return f16;
  return dtype == "F8_E4M3" ? e4m3 : e5m2;
}

// Calls use(i, value) for each element.
template <typename Use>
void for_each_float(const TensorView& tensor, const Use& use) {
  const std::byte* const data = tensor.data.data();
  const std::size_t bytes = tensor.data.size();
  if (tensor.dtype == "F32") {
    for (std::size_t i = 0; i < bytes / 4; ++i)
      use(i, load<float>(data + 4 * i));
  } else if (tensor.dtype == "BF16") {
    for (std::size_t i = 0; i < bytes / 2; ++i)
      use(i, numerics::to_float({load<std::uint16_t>(data + 2 * i)}));
  } else {
    const std::vector<float>& table = table_of("F16");
    for (std::size_t i = 0; i < bytes / 2; ++i)
      use(i, table[load<std::uint16_t>(data + 2 * i)]);
  }
}

void convert_fp8(bf16* out, const TensorView& tensor, const WeightScales& scales) {
  const std::vector<float>& table = table_of(tensor.dtype);
  const std::size_t rows = tensor.shape[0], columns = tensor.shape[1];
  const std::size_t grid = (columns + scales.block.columns - 1) / scales.block.columns;
  const std::byte* from = tensor.data.data();
  for (std::size_t row = 0; row < rows; ++row) {
    const float* const scale = &scales.values[row / scales.block.rows * grid];
    for (std::size_t column = 0; column < columns; ++column) {
      const float value = table[static_cast<std::size_t>(*from++)];
      *out++ = numerics::from_float(value * scale[column / scales.block.columns]);
    }
  }
}

}  // namespace

bool is_floating(std::string_view dtype) {
  return dtype == "BF16" || dtype == "F16" || dtype == "F32";
}

bool is_fp8(std::string_view dtype) {
  return dtype == "F8_E4M3" || dtype == "F8_E5M2";
}

std::vector<float> to_floats(const TensorView& tensor) {
  std::vector<float> values;
  for_each_float(tensor, [&](std::size_t, float value) { values.push_back(value); });
  return values;
}

ConvertedValues& ConvertedValues::operator=(ConvertedValues&& other) noexcept {
  std::swap(blocks_, other.blocks_);
  return *this;
}

ConvertedValues::~ConvertedValues() {
  for (const std::span<std::byte> block : blocks_)
    munmap(block.data(), block.size());
}

const bf16* ConvertedValues::add(const TensorView& tensor, const WeightScales* scales,
                                 const std::filesystem::path& path) {
  std::size_t count = 1;
  for (const std::size_t size : tensor.shape)
    count *= size;
  const std::size_t bytes = std::max<std::size_t>(1, count * sizeof(bf16));
  void* const memory =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    throw ModelError(path, fmt::format("{}: no memory for {} bytes", tensor.name, bytes));
  }
  blocks_.emplace_back(static_cast<std::byte*>(memory), bytes);
  auto* const out = static_cast<bf16*>(memory);
  if (scales != nullptr) {
    convert_fp8(out, tensor, *scales);
  } else {
    for_each_float(tensor,
                   [&](std::size_t i, float value) { out[i] = numerics::from_float(value); });
  }
  return out;
}

void ConvertedValues::discard(std::span<const std::byte> values) const {
  for (const std::span<std::byte> block : blocks_)
    if (release_pages(block, values)) return;
}

}  // namespace engine::model
