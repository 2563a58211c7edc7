#include "model/weights.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <set>

#include "model/tensor_store.h"
#include "model/tensor_walk.h"

namespace engine::model {
namespace {

using Shape = std::vector<std::size_t>;

// Tensors that are saved with the weights and change nothing that is computed here: buffers of
// training code, and the scales by which others quantise activations and KV rows.
bool is_harmless(std::string_view name) {
  static constexpr std::array<std::string_view, 7> kEndings{".rotary_emb.inv_freq",
                                                            ".position_ids",
                                                            ".input_scale",
                                                            ".activation_scale",
                                                            ".k_scale",
                                                            ".v_scale",
                                                            ".q_scale"};
  return std::ranges::any_of(kEndings, [&](auto ending) { return name.ends_with(ending); });
}

// What a weight that is not there as such may have become, or nothing.
std::string_view other_form(const TensorStore& store, const std::string& name) {
  constexpr std::string_view kWeight = ".weight";
  if (!name.ends_with(kWeight)) return {};
  const std::string stem = name.substr(0, name.size() - kWeight.size());
  static constexpr std::array<std::array<std::string_view, 2>, 4> kForms{
      {{".qweight", "GPTQ or AWQ integers"},
       {".weight_packed", "compressed-tensors integers"},
       {".weight.absmax", "bitsandbytes blocks"},
       {".weight.SCB", "bitsandbytes integers"}}};
  for (const auto& [ending, form] : kForms) {
    if (store.find(stem + std::string(ending)) != nullptr) return form;
  }
  return {};
}

// What a larger model has beside its text part is a module of its own, which is named by what it
// sees or hears or by how that is brought to the text: "model.vision_tower.", "visual.",
// "mm_projector.", "model.image_newline".
bool is_beside_text(std::string_view name) {
  static constexpr std::array<std::string_view, 11> kWords{
      "_vision_", "_visual_", "_image_",     "_img_",       "_audio_", "_speech_",
      "_modal_",  "_mm_",     "_projector_", "_connector_", "_merger_"};
  constexpr std::string_view kWhole = "model.";
  if (name.starts_with(kWhole)) name.remove_prefix(kWhole.size());
  const std::string module = fmt::format("_{}_", name.substr(0, name.find('.')));
  return std::ranges::any_of(kWords,
                             [&](auto word) { return module.find(word) != std::string::npos; });
}

// Transformers names the text part of a larger model in one of these ways.
TensorPrefixes find_prefixes(const ModelConfig& config, const TensorStore& store) {
  if (!config.nested) return {};
  for (const TensorPrefixes& prefixes : {TensorPrefixes{"language_model.model.", "language_model."},
                                         TensorPrefixes{"model.language_model.", ""}}) {
    if (store.find(prefixes.body + "embed_tokens.weight") != nullptr) return prefixes;
  }
  return {};
}

// Takes tensors out of a store, remembering which were asked for.
class Binder final : public TensorSupply {
 public:
  explicit Binder(const TensorStore& store) : store_(store) {}

  const bf16* take(const TensorNeed& need) override { return take(need.name, need.shape); }

  bool holds(const std::string& name) const override { return store_.find(name) != nullptr; }

  void skip(const std::string& prefix) override {
    for (const TensorView* tensor : store_.tensors()) {
      if (tensor->name.starts_with(prefix)) taken_.insert(tensor->name);
    }
  }

  const float* take_floats(const TensorNeed& need) override {
    const TensorView& tensor = find(need.name, need.shape);
    if (!is_floating(tensor.dtype)) {
      throw ModelError(store_.path(), fmt::format("{}: expected F32, F16 or BF16, found {}",
                                                  need.name, tensor.dtype));
    }
    return floats_.emplace_back(to_floats(tensor)).data();
  }

  const bf16* take(const std::string& name, const Shape& shape) {
    const TensorView& tensor = find(name, shape);
    if (tensor.dtype == "BF16") return reinterpret_cast<const bf16*>(tensor.data.data());
    return convert(tensor);
  }

  // Of that shape and of a dtype that is read; taken.
  const TensorView& find(const std::string& name, const Shape& shape) {
    const TensorView* const tensor = store_.find(name);
    if (tensor == nullptr) {
      refuse_other_form(name);
      throw ModelError(store_.path(), fmt::format("no tensor {}; expected BF16 {}", name, shape));
    }
    if ((!is_floating(tensor->dtype) && !is_fp8(tensor->dtype)) || tensor->shape != shape) {
      refuse_other_form(name);
      throw ModelError(store_.path(), fmt::format("{}: expected BF16 {}, found {} {}", name, shape,
                                                  tensor->dtype, tensor->shape));
    }
    taken_.insert(tensor->name);
    return *tensor;
  }

  // Tied models may store the head as well; it must then be the embedding, bit for bit.
  void skip_copy(const std::string& name, const std::string& original) {
    const TensorView* const copy = store_.find(name);
    if (copy == nullptr) return;
    const TensorView* const first = store_.find(original);
    if (copy->dtype != first->dtype || copy->shape != first->shape ||
        !std::ranges::equal(copy->data, first->data)) {
      throw ModelError(store_.path(),
                       fmt::format("{} differs from {}, though they are tied", name, original));
    }
    taken_.insert(copy->name);
  }

  void refuse_rest(bool nested) const {
    std::vector<std::string_view> rest;
    for (const TensorView* tensor : store_.tensors()) {
      if (taken_.contains(tensor->name) || is_harmless(tensor->name)) continue;
      if (nested && is_beside_text(tensor->name)) continue;
      rest.push_back(tensor->name);
    }
    if (rest.empty()) return;
    const std::size_t more = rest.size() > kListed ? rest.size() - kListed : 0;
    rest.resize(rest.size() - more);
    throw ModelError(store_.path(), fmt::format("tensors that the config does not call for: {}{}",
                                                fmt::join(rest, ", "),
                                                more ? fmt::format(" and {} more", more) : ""));
  }

  ConvertedValues converted() { return std::move(converted_); }
  std::vector<std::vector<float>> floats() { return std::move(floats_); }

 private:
  static constexpr std::size_t kListed = 10;

  const bf16* convert(const TensorView& tensor) {
    const bf16* values = nullptr;
    if (is_fp8(tensor.dtype)) {
      const WeightScales scales = find_scales(tensor, store_);
      taken_.insert(store_.find(scales.name)->name);
      values = converted_.add(tensor, &scales, store_.path());
    } else {
      values = converted_.add(tensor, nullptr, store_.path());
    }
    store_.release(tensor.data);
    return values;
  }

  void refuse_other_form(const std::string& name) const {
    const std::string_view form = other_form(store_, name);
    if (form.empty()) return;
    throw ModelError(store_.path(), fmt::format("{} is stored as {}, which are not read; BF16, "
                                                "F16, F32 and FP8 are",
                                                name, form));
  }

  const TensorStore& store_;
  std::set<std::string_view> taken_;
  ConvertedValues converted_;
  std::vector<std::vector<float>> floats_;
};

// FNV-1a, 64 bits.
class Fingerprint {
 public:
  void add(const void* data, std::size_t bytes) {
    const auto* const from = static_cast<const unsigned char*>(data);
    for (std::size_t i = 0; i < bytes; ++i)
      hash_ = (hash_ ^ from[i]) * 0x100000001b3U;
  }
  std::string hex() const { return fmt::format("{:016x}", hash_); }

 private:
  std::uint64_t hash_ = 0xcbf29ce484222325U;
};

// Every header byte, and 64 bytes out of each `kStride` of every tensor: few enough that a large
// file is not read twice. Where the system maps large pages, the samples lie in every one of them.
std::string fingerprint(const TensorStore& store) {
  constexpr std::size_t kSample = 64;
  constexpr std::size_t kStride = std::size_t{1} << 20;
  Fingerprint print;
  for (const SafetensorsFile& file : store.files()) {
    print.add(file.header().data(), file.header().size());
    for (const TensorView& tensor : file.tensors()) {
      for (std::size_t at = 0; at < tensor.data.size(); at += kStride) {
        const auto stride = tensor.data.subspan(at, std::min(kStride, tensor.data.size() - at));
        print.add(stride.data(), std::min(kSample, stride.size()));
        store.release(stride);
      }
    }
  }
  return print.hex();
}

}  // namespace

bool Weights::has_drafter(const ModelConfig& config, const TensorStore& store) {
  const std::string body = find_prefixes(config, store).body;
  return store.find(fmt::format("{}layers.{}.eh_proj.weight", body, config.layers)) != nullptr;
}

Weights Weights::bind(const ModelConfig& config, const TensorStore& store) {
  Binder binder(store);
  const TensorPrefixes prefixes = find_prefixes(config, store);
  Weights weights = walk_tensors(config, prefixes, binder);
  if (config.tied_embeddings) {
    binder.skip_copy(prefixes.head + "lm_head.weight", prefixes.body + "embed_tokens.weight");
  }
  binder.refuse_rest(config.nested);
  weights.converted = binder.converted();
  weights.floats = binder.floats();
  weights.id = fingerprint(store);
  return weights;
}

}  // namespace engine::model
