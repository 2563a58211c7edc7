#include "model/weight_scales.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "model/convert.h"
#include "model/json_file.h"
#include "model/tensor_store.h"

namespace engine::model {
namespace {

constexpr std::size_t kMaxConfigBytes = 16U << 20U;
constexpr std::size_t kMaxBlock = 1U << 16U;

using Shape = std::vector<std::size_t>;

std::size_t blocks(std::size_t size, std::size_t block) {
  return (size + block - 1) / block;
}

bool is_single(const Shape& shape) {
  return std::ranges::all_of(shape, [](std::size_t size) { return size == 1; });
}

// How the scales of a weight [rows, columns] are laid out, or nothing if their shape fits none.
std::optional<BlockSize> layout(const Shape& scales, bool by_block, const Shape& weight,
                                const std::optional<BlockSize>& block) {
  const std::size_t rows = weight[0], columns = weight[1];
  if (by_block && block) {
    const Shape grid{blocks(rows, block->rows), blocks(columns, block->columns)};
    return scales == grid ? block : std::nullopt;
  }
  if (is_single(scales)) return BlockSize{rows, columns};
  if (!by_block && (scales == Shape{rows} || scales == Shape{rows, 1}))
    return BlockSize{1, columns};
  return std::nullopt;
}

std::vector<float> read_values(const TensorView& scales, const TensorStore& store) {
  if (!is_floating(scales.dtype)) {
    throw ModelError(store.path(), fmt::format("{}: expected scales as BF16, F16 or F32, found {}",
                                               scales.name, scales.dtype));
  }
  std::vector<float> values = to_floats(scales);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!std::isfinite(values[i]) || values[i] < 0) {
      throw ModelError(store.path(), fmt::format("{}[{}]: a scale of {}; expected a number >= 0",
                                                 scales.name, i, values[i]));
    }
  }
  return values;
}

}  // namespace

std::optional<BlockSize> read_block_size(const std::filesystem::path& config) {
  if (!std::filesystem::exists(config)) return std::nullopt;
  const nlohmann::json json = parse_json(read_file(config, kMaxConfigBytes), config);
  const JsonNode root(json, config);
  const std::optional<JsonNode> quantization = root.find("quantization_config");
  if (!quantization) return std::nullopt;
  const JsonNode method = quantization->at("quant_method");
  const std::string name = method.string();
  if (name != "fp8" && name != "compressed-tensors") {
    method.fail(fmt::format("weights quantised by {} are not read; fp8 is", name));
  }
  const std::optional<JsonNode> size = quantization->find("weight_block_size");
  if (!size) return std::nullopt;
  if (size->require_array() != 2) size->fail_expected("[rows, columns]");
  return BlockSize{size->element(0).integer(1, kMaxBlock), size->element(1).integer(1, kMaxBlock)};
}

WeightScales find_scales(const TensorView& weight, const TensorStore& store) {
  for (const bool by_block : {true, false}) {
    const std::string name = weight.name + (by_block ? "_scale_inv" : "_scale");
    const TensorView* const scales = store.find(name);
    if (scales == nullptr) continue;
    const std::optional<BlockSize> block =
        weight.shape.size() == 2 ? layout(scales->shape, by_block, weight.shape, store.block_size())
                                 : std::nullopt;
    if (!block) {
      throw ModelError(
          store.path(),
          fmt::format(
              "{}: scales {} do not fit {} {}{}", name, scales->shape, weight.name, weight.shape,
              store.block_size() ? fmt::format(" in blocks of {} x {}", store.block_size()->rows,
                                               store.block_size()->columns)
                                 : ""));
    }
    return {name, read_values(*scales, store), *block};
  }
  throw ModelError(store.path(), fmt::format("{} is {}, but there is no {}_scale_inv or {}_scale",
                                             weight.name, weight.dtype, weight.name, weight.name));
}

}  // namespace engine::model
