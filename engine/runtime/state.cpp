#include "runtime/state.h"

#include <algorithm>

namespace engine::runtime {
namespace {

using kernels::bf16;

constexpr std::size_t kNoIndexer = static_cast<std::size_t>(-1);
constexpr std::size_t kAlignment = 256;  // bytes; what bulk copies on a GPU want

std::size_t aligned(std::size_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

// Where an entry's pointer goes.
template <typename T>
void** at(T*& pointer) {
  return reinterpret_cast<void**>(&pointer);
}

}  // namespace

// name, bytes, pointer: the whole layout. A is the scratch rows of one launch.
std::vector<State::Entry> State::table(const Network& network) {
  const model::ModelConfig& c = network.config();
  const std::size_t a = std::max(shape_.prompt_rows, kMaxDecodeRows);
  const std::size_t f32 = sizeof(float), b16 = sizeof(bf16), i32 = sizeof(std::int32_t);
  // E experts, T of each row; P = A T pairs of a row and an expert, as wide as M in all.
  const std::size_t e = c.experts.router.experts, p = a * c.experts.router.chosen;
  const std::size_t m = std::max(a * std::max(c.intermediate, c.experts.shared_intermediate),
                                 p * c.experts.intermediate);
  std::vector<Entry> entries{
      {"hidden [1 + A, H]", (1 + a) * c.hidden * f32, at(hidden_)},
      {"normed [A, H]", a * c.hidden * b16, at(scratch_.normed)},
      {"gate_up [A, 2 I] or [P, 2 I]", (c.gated() ? 2 : 1) * m * f32, at(scratch_.gate_up)},
      {"activated [A, I] or [P, I]", m * b16, at(scratch_.activated)},
      {"branch [A, H]", network.adds_branches() || e > 0 ? a * c.hidden * f32 : 0,
       at(scratch_.branch)},
      {"logits [8, V]", kMaxDecodeRows * c.vocabulary * f32, at(scratch_.logits)},
  };
  for (const auto& more : {kept_table(network), attention_table(network, a)})
    entries.insert(entries.end(), more.begin(), more.end());
  if (e > 0) {
    kernels::Routes& routes = scratch_.routes;
    entries.insert(entries.end(),
                   {{"router logits [A, E]", a * e * f32, at(scratch_.router_logits)},
                    {"experts [A, T]", p * i32, at(routes.experts)},
                    {"weights [A, T]", p * f32, at(routes.weights)},
                    {"places [A, T]", p * i32, at(routes.places)},
                    {"rows [P]", p * i32, at(routes.rows)},
                    {"begins [E + 1]", (e + 1) * i32, at(routes.begins)},
                    {"gathered [P, H]", p * c.hidden * b16, at(scratch_.gathered)},
                    {"expert outputs [P, H]", p * c.hidden * f32, at(scratch_.expert_outputs)}});
  }
  if (network.mtp) {
    entries.insert(entries.end(),
                   {{"draft hidden [A, H]", a * c.hidden * f32, at(scratch_.draft_hidden)},
                    {"draft pair [A, 2 H]", a * 2 * c.hidden * b16, at(scratch_.draft_pair)},
                    {"draft logits [1, V]", c.vocabulary * f32, at(scratch_.draft_logits)}});
  }
  return entries;
}

// What the layers and the ring keep of positions.
std::vector<State::Entry> State::kept_table(const Network& network) {
  const model::ModelConfig& c = network.config();
  const std::size_t layers = c.layers * shape_.context, b16 = sizeof(bf16);
  const std::size_t ring = network.mtp ? shape_.ring_rows : 0;
  if (!c.has_latent()) {
    const std::size_t keys = c.kv_width() * b16;
    return {{"keys [layers, context, G D]", layers * keys, at(keys_)},
            {"values [layers, context, G D]", layers * keys, at(values_)},
            {"ring keys [ring, G D]", ring * keys, at(ring_keys_)},
            {"ring values [ring, G D]", ring * keys, at(ring_values_)}};
  }
  const auto indexers =
      static_cast<std::size_t>(std::ranges::count(c.layer_kinds, true, &model::LayerKind::indexer));
  const std::size_t latents = network.latent().key() * b16;
  return {{"latents [layers, context, C + B]", layers * latents, at(latents_)},
          {"index keys [indexers, context, F]",
           indexers * shape_.context * c.latent.index_size * b16, at(index_keys_)},
          {"ring latents [ring, C + B]", ring * latents, at(ring_latents_)}};
}

// Scratch of one launch of attention: `a` rows.
std::vector<State::Entry> State::attention_table(const Network& network, std::size_t a) {
  const model::ModelConfig& c = network.config();
  const std::size_t f32 = sizeof(float), b16 = sizeof(bf16), q = c.query_heads;
  const Entry attended{"attended [A, Q D] or [A, Q U]", a * c.attended_width() * b16,
                       at(scratch_.attended)};
  if (!c.has_latent()) {
    const std::size_t queries = c.query_width(), keys = c.kv_width();
    return {{"qkv [A, (Q + 2 G) D]", a * (queries + 2 * keys) * f32, at(scratch_.qkv)},
            {"query [A, Q D]", a * queries * b16, at(scratch_.query)},
            attended};
  }
  const model::LatentConfig& l = c.latent;
  const kernels::LatentShape shape = network.latent();
  const std::size_t j = l.index_heads, f = l.index_size;
  const std::size_t scored = j > 0 ? std::min(a, kernels::kIndexRows) : 0;
  return {
      {"projected [A, L + C + B + F + J]", a * (l.rank + shape.key() + f + j) * f32,
       at(scratch_.projected)},
      {"low query [A, L]", a * l.rank * b16, at(scratch_.low_query)},
      {"queries [A, Q (W + B) + J F]", a * (q * shape.query() + j * f) * f32, at(scratch_.queries)},
      {"unrotated [A, Q W]", a * q * l.unrotated * b16, at(scratch_.unrotated)},
      {"query [A, Q (C + B)]", a * q * shape.key() * b16, at(scratch_.query)},
      {"latents [A, Q C]", a * q * l.size * b16, at(scratch_.latents)},
      attended,
      {"index query [A, J F]", a * j * f * b16, at(scratch_.index_query)},
      {"index weights [A, J]", a * j * f32, at(scratch_.index_weights)},
      {"index scores [64, context]", scored * shape_.context * f32, at(scratch_.index_scores)},
      {"chosen [A, S]", a * l.choice * sizeof(std::int32_t), at(scratch_.chosen)}};
}

State::State(const Network& network, const StateShape& shape)
    : backend_(&network.backend()),
      shape_(shape),
      row_elements_(network.config().has_latent() ? network.latent().key()
                                                  : network.config().kv_width()),
      index_size_(network.config().latent.index_size),
      hidden_size_(network.config().hidden),
      memory_(backend_->allocate(bytes(network, shape))),
      recording_(backend_->make_recording()),
      origins_(shape.context) {
  std::byte* next = memory_->data();
  for (const Entry& entry : table(network)) {
    *entry.pointer = next;
    next += aligned(entry.bytes);
  }
  std::size_t indexers = 0;
  for (const model::LayerKind& kind : network.config().layer_kinds)
    index_ordinals_.push_back(kind.indexer ? indexers++ : kNoIndexer);
}

std::size_t State::bytes(const Network& network, const StateShape& shape) {
  State layout;
  layout.shape_ = shape;
  std::size_t total = 0;
  for (const Entry& entry : layout.table(network))
    total += aligned(entry.bytes);
  return total;
}

LayerRows State::rows(std::size_t layer) const {
  const std::size_t offset = layer * shape_.context * row_elements_;
  if (latents_ == nullptr)
    return {.kv = {keys_ + offset, values_ + offset, shape_.context}, .latents = {}};
  const std::size_t ordinal = index_ordinals_[layer];
  bf16* const keys =
      ordinal == kNoIndexer ? nullptr : index_keys_ + ordinal * shape_.context * index_size_;
  return {.kv = {}, .latents = {latents_ + offset, keys, shape_.context}};
}

LayerRows State::ring() const {
  const std::size_t slots = shape_.ring_rows;
  if (latents_ == nullptr) return {.kv = {ring_keys_, ring_values_, slots}, .latents = {}};
  return {.kv = {}, .latents = {ring_latents_, nullptr, slots}};
}

std::vector<KeptTensor> State::tensors_of(const LayerRows& rows) const {
  const auto tensor = [](bf16* data, std::size_t elements, std::size_t slots) {
    return KeptTensor{reinterpret_cast<std::byte*>(data), elements * sizeof(bf16), slots};
  };
  if (latents_ == nullptr)
    return {tensor(rows.kv.k, row_elements_, rows.kv.slots),
            tensor(rows.kv.v, row_elements_, rows.kv.slots)};
  const kernels::LatentRows& kept = rows.latents;
  std::vector<KeptTensor> tensors{tensor(kept.latents, row_elements_, kept.slots)};
  if (kept.index_keys != nullptr)
    tensors.push_back(tensor(kept.index_keys, index_size_, kept.slots));
  return tensors;
}

std::vector<KeptTensor> State::kept(std::size_t layer) const {
  return tensors_of(rows(layer));
}

std::vector<KeptTensor> State::kept_ring() const {
  return tensors_of(ring());
}

float* State::hidden(std::size_t row) const {
  return hidden_ + row * hidden_size_;
}

void State::note_rows(std::size_t begin, std::size_t rows, Writer writer) {
  const RowOrigin origin{writer, static_cast<std::uint32_t>(begin),
                         static_cast<std::uint32_t>(rows)};
  std::fill_n(origins_.begin() + static_cast<std::ptrdiff_t>(begin), rows, origin);
}

std::vector<bf16> State::read_row(std::size_t layer, std::size_t position) const {
  std::vector<bf16> row;
  for (const KeptTensor& tensor : kept(layer)) {
    const std::size_t before = row.size();
    row.resize(before + tensor.row_bytes / sizeof(bf16));
    backend_->download(row.data() + before,
                       tensor.data + position % tensor.slots * tensor.row_bytes, tensor.row_bytes);
  }
  return row;
}

}  // namespace engine::runtime
