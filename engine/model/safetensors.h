// A safetensors file, mapped and checked: https://huggingface.co/docs/safetensors
//
//   8 bytes  little-endian length of the header
//   header   JSON: {"name": {"dtype": "BF16", "shape": [..], "data_offsets": [begin, end]}, ..,
//                   "__metadata__": {string: string}}
//   data     the tensors; offsets count from here
//
// Everything is checked when the file is opened: lengths, JSON (size, depth, duplicate names),
// dtypes, shapes against sizes, alignment, and that the tensors tile the data without overlap, gap
// or rest. What a TensorView says can be trusted.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/error.h"

namespace engine::model {

// A file's bytes, mapped read-only. Unmapped on destruction. The address survives a move.
class MappedFile {
 public:
  explicit MappedFile(const std::filesystem::path& path);  // throws ModelError
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  ~MappedFile();

  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  std::span<const std::byte> bytes_;
};

// Lets the system take back the memory of the pages that lie in `part` whole: a later access reads
// a mapped file again, and zeros from memory that has none. False if `part` begins outside of
// `mapping`.
bool release_pages(std::span<const std::byte> mapping, std::span<const std::byte> part);

struct TensorView {
  std::string name;
  std::string dtype;               // as written: "BF16", "F32", ..
  std::vector<std::size_t> shape;  // row-major; a scalar has none
  std::span<const std::byte> data;
};

class SafetensorsFile {
 public:
  // Throws ModelError.
  static SafetensorsFile open(const std::filesystem::path& path);

  const std::filesystem::path& path() const { return path_; }
  std::string_view header() const { return header_; }
  std::span<const std::byte> bytes() const { return file_.bytes(); }
  // In the order of their data.
  std::span<const TensorView> tensors() const { return tensors_; }

 private:
  SafetensorsFile(std::filesystem::path path, MappedFile file);

  std::filesystem::path path_;
  MappedFile file_;
  std::string_view header_;
  std::vector<TensorView> tensors_;
};

// A tensor to be written. `data` must hold exactly what dtype and shape say.
struct TensorSource {
  std::string name;
  std::string dtype;
  std::vector<std::size_t> shape;
  std::span<const std::byte> data;
};

// Writes beside `path` and renames: the file appears whole or not at all. The header is padded so
// that the data begins at a multiple of 64 bytes. Throws ModelError.
void write_safetensors(const std::filesystem::path& path, std::span<const TensorSource> tensors);

}  // namespace engine::model
