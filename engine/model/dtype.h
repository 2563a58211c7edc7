// The element types of the safetensors format. Internal.
#pragma once

#include <cstddef>
#include <string_view>
#include <utility>

namespace engine::model {

// Bytes of one element; 0 if the format has no such type.
constexpr std::size_t dtype_size(std::string_view dtype) {
  constexpr std::pair<std::string_view, std::size_t> kSizes[] = {
      {"BOOL", 1}, {"U8", 1},  {"I8", 1},  {"F8_E5M2", 1}, {"F8_E4M3", 1},
      {"I16", 2},  {"U16", 2}, {"F16", 2}, {"BF16", 2},    {"I32", 4},
      {"U32", 4},  {"F32", 4}, {"F64", 8}, {"I64", 8},     {"U64", 8}};
  for (const auto& [name, size] : kSizes) {
    if (name == dtype) return size;
  }
  return 0;
}

}  // namespace engine::model
