#include "model/safetensors.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <system_error>
#include <utility>

#include "model/dtype.h"
#include "model/json_file.h"

namespace engine::model {
namespace {

static_assert(std::endian::native == std::endian::little, "the format is little-endian");

constexpr std::size_t kMaxHeader = 100'000'000;  // the format's own limit
constexpr std::size_t kMaxRank = 8;
constexpr std::size_t kMaxName = 1024;
constexpr std::size_t kMaxHeaderDepth = 4;

[[noreturn]] void fail_errno(const std::filesystem::path& path) {
  throw ModelError(path, std::system_category().message(errno));
}

// The whole open file, or nothing if it is empty.
std::span<const std::byte> map_descriptor(int descriptor, const std::filesystem::path& path) {
  struct stat status {};
  if (fstat(descriptor, &status) != 0) fail_errno(path);
  if (!S_ISREG(status.st_mode)) throw ModelError(path, "not a regular file");
  const auto size = static_cast<std::size_t>(status.st_size);
  if (size == 0) return {};
  void* const address = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
  if (address == MAP_FAILED) fail_errno(path);
  return {static_cast<const std::byte*>(address), size};
}

std::size_t header_length(std::span<const std::byte> bytes, const std::filesystem::path& path) {
  if (bytes.size() < 8) {
    throw ModelError(path,
                     fmt::format("{} bytes; the header's length alone takes 8", bytes.size()));
  }
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data(), sizeof length);
  if (length > kMaxHeader) {
    throw ModelError(path,
                     fmt::format("header of {} bytes; at most {} are allowed", length, kMaxHeader));
  }
  if (length > bytes.size() - 8) {
    throw ModelError(path, fmt::format("header of {} bytes, but only {} follow: cut short?", length,
                                       bytes.size() - 8));
  }
  return length;
}

// Product of shape and element size. Refuses one that does not fit.
std::size_t byte_size(const TensorView& tensor, const JsonNode& node) {
  std::size_t bytes = dtype_size(tensor.dtype);
  if (bytes == 0) node.at("dtype").fail_expected("a dtype of the safetensors format");
  for (const std::size_t dimension : tensor.shape) {
    if (__builtin_mul_overflow(bytes, dimension, &bytes)) {
      node.at("shape").fail(fmt::format("{} is too large", tensor.shape));
    }
  }
  return bytes;
}

std::vector<std::size_t> read_shape(const JsonNode& node) {
  const std::size_t rank = node.require_array();
  if (rank > kMaxRank) node.fail(fmt::format("{} dimensions; at most {} are read", rank, kMaxRank));
  std::vector<std::size_t> shape;
  for (std::size_t i = 0; i < rank; ++i)
    shape.push_back(node.element(i).integer(0, SIZE_MAX));
  return shape;
}

TensorView read_tensor(const std::string& name, const JsonNode& node,
                       std::span<const std::byte> data) {
  node.require_only({"dtype", "shape", "data_offsets"});
  TensorView tensor{name, node.at("dtype").string(), read_shape(node.at("shape")), {}};
  const JsonNode offsets = node.at("data_offsets");
  if (offsets.require_array() != 2) offsets.fail_expected("[begin, end]");
  const std::size_t end = offsets.element(1).integer(0, data.size());
  const std::size_t begin = offsets.element(0).integer(0, end);
  const std::size_t expected = byte_size(tensor, node);
  if (end - begin != expected) {
    node.fail(fmt::format("expected {} bytes for {} {}, found {}", expected, tensor.dtype,
                          tensor.shape, end - begin));
  }
  tensor.data = data.subspan(begin, end - begin);
  const auto address = reinterpret_cast<std::uintptr_t>(tensor.data.data());
  if (!tensor.data.empty() && address % dtype_size(tensor.dtype) != 0) {
    node.fail(fmt::format("data at offset {} is not aligned for {}", begin, tensor.dtype));
  }
  return tensor;
}

// The tensors, sorted by begin, must follow each other from the first byte to the last.
void check_tiling(std::span<const TensorView> tensors, std::span<const std::byte> data,
                  const std::filesystem::path& path) {
  std::size_t at = 0;
  for (const TensorView& tensor : tensors) {
    const auto begin = static_cast<std::size_t>(tensor.data.data() - data.data());
    if (begin < at) {
      throw ModelError(path, fmt::format("{} overlaps the tensor before it: begins at {}, which "
                                         "ends at {}",
                                         tensor.name, begin, at));
    }
    if (begin > at) {
      throw ModelError(
          path, fmt::format("{} bytes before {} belong to no tensor", begin - at, tensor.name));
    }
    at = begin + tensor.data.size();
  }
  if (at != data.size()) {
    throw ModelError(
        path, fmt::format("{} bytes after the last tensor belong to none", data.size() - at));
  }
}

void check_metadata(const JsonNode& node) {
  node.require_object();
  for (const auto& [key, value] : node.value().items()) {
    if (!value.is_string()) node.at(key).fail_expected("a string");
  }
}

std::vector<TensorView> read_header(std::string_view header, std::span<const std::byte> data,
                                    const std::filesystem::path& path) {
  const nlohmann::json json = parse_json(header, path, kMaxHeaderDepth);
  const JsonNode root(json, path);
  root.require_object();
  std::vector<TensorView> tensors;
  for (const auto& [name, unused] : json.items()) {
    if (name == "__metadata__") {
      check_metadata(root.at(name));
      continue;
    }
    if (name.empty() || name.size() > kMaxName) {
      root.fail(
          fmt::format("a tensor's name has {} bytes; expected 1 to {}", name.size(), kMaxName));
    }
    tensors.push_back(read_tensor(name, root.at(name), data));
  }
  std::ranges::sort(tensors, {}, [](const TensorView& tensor) {
    return std::pair(tensor.data.data(), tensor.data.size());
  });
  check_tiling(tensors, data, path);
  return tensors;
}

}  // namespace

MappedFile::MappedFile(const std::filesystem::path& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) fail_errno(path);
  try {
    bytes_ = map_descriptor(descriptor, path);
  } catch (...) {
    ::close(descriptor);
    throw;
  }
  ::close(descriptor);
}

MappedFile::MappedFile(MappedFile&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(bytes_, other.bytes_);
  return *this;
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

bool release_pages(std::span<const std::byte> mapping, std::span<const std::byte> part) {
  if (part.data() < mapping.data() || part.data() >= mapping.data() + mapping.size()) return false;
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto begin = (reinterpret_cast<std::uintptr_t>(part.data()) + page - 1) / page * page;
  const auto end = (reinterpret_cast<std::uintptr_t>(part.data()) + part.size()) / page * page;
  if (begin < end) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
  return true;
}

SafetensorsFile SafetensorsFile::open(const std::filesystem::path& path) {
  MappedFile file(path);
  return SafetensorsFile(path, std::move(file));
}

SafetensorsFile::SafetensorsFile(std::filesystem::path path, MappedFile file)
    : path_(std::move(path)), file_(std::move(file)) {
  const std::span<const std::byte> bytes = file_.bytes();
  const std::size_t length = header_length(bytes, path_);
  header_ = {reinterpret_cast<const char*>(bytes.data()) + 8, length};
  tensors_ = read_header(header_, bytes.subspan(8 + length), path_);
}

}  // namespace engine::model
