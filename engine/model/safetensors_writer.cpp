#include <fmt/format.h>

#include <cstdint>
#include <fstream>
#include <system_error>

#include "model/dtype.h"
#include "model/json_file.h"
#include "model/safetensors.h"

namespace engine::model {
namespace {

constexpr std::size_t kDataAlignment = 64;
static_assert(kDataAlignment % 8 == 0);

void check_size(const TensorSource& tensor, const std::filesystem::path& path) {
  std::size_t bytes = dtype_size(tensor.dtype);
  for (const std::size_t dimension : tensor.shape)
    bytes *= dimension;
  if (tensor.data.size() != bytes) {
    throw ModelError(path, fmt::format("{}: expected {} bytes, found {}", tensor.name, bytes,
                                       tensor.data.size()));
  }
}

std::string header_of(std::span<const TensorSource> tensors, const std::filesystem::path& path) {
  nlohmann::ordered_json header = {{"__metadata__", {{"format", "pt"}}}};
  std::size_t at = 0;
  for (const TensorSource& tensor : tensors) {
    check_size(tensor, path);
    const std::size_t end = at + tensor.data.size();
    header[tensor.name] = {
        {"dtype", tensor.dtype}, {"shape", tensor.shape}, {"data_offsets", {at, end}}};
    at = end;
  }
  std::string text = header.dump();
  text.append((kDataAlignment - (8 + text.size()) % kDataAlignment) % kDataAlignment, ' ');
  return text;
}

}  // namespace

void write_safetensors(const std::filesystem::path& path, std::span<const TensorSource> tensors) {
  const std::string header = header_of(tensors, path);
  const std::uint64_t length = header.size();
  std::filesystem::path temporary = path;
  temporary += ".tmp";
  std::ofstream out(temporary, std::ios::binary | std::ios::trunc);
  out.write(reinterpret_cast<const char*>(&length), sizeof length);
  out << header;
  for (const TensorSource& tensor : tensors) {
    out.write(reinterpret_cast<const char*>(tensor.data.data()),
              static_cast<std::streamsize>(tensor.data.size()));
  }
  out.close();
  std::error_code error;
  if (out) std::filesystem::rename(temporary, path, error);
  if (out && !error) return;
  std::error_code ignored;
  std::filesystem::remove(temporary, ignored);
  throw ModelError(path, error ? error.message() : "cannot be written");
}

}  // namespace engine::model
