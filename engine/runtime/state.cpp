#include "runtime/state.h"

#include <algorithm>

namespace engine::runtime {
namespace {

using kernels::bf16;

constexpr std::size_t kAlignment = 256;  // bytes; what bulk copies on a GPU want

std::size_t aligned(std::size_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

}  // namespace

// name, bytes, pointer: the whole layout. A is the scratch rows of one launch.
std::vector<State::Entry> State::table(const Network& network) {
  const model::ModelConfig& c = network.config();
  const std::size_t a = std::max(shape_.prompt_rows, kMaxDecodeRows);
  const std::size_t queries = c.query_heads * c.head_size;
  const std::size_t keys = c.kv_heads * c.head_size;
  const std::size_t f32 = sizeof(float), b16 = sizeof(bf16), i32 = sizeof(std::int32_t);
  // E experts, T of each row; P = A T pairs of a row and an expert, as wide as M in all.
  const std::size_t e = c.experts.router.experts, p = a * c.experts.router.chosen;
  const std::size_t m = std::max(a * std::max(c.intermediate, c.experts.shared_intermediate),
                                 p * c.experts.intermediate);
  const auto at = [](auto& pointer) { return reinterpret_cast<void**>(&pointer); };
  std::vector<Entry> entries{
      {"keys [layers, context, G D]", c.layers * shape_.context * keys * b16, at(keys_)},
      {"values [layers, context, G D]", c.layers * shape_.context * keys * b16, at(values_)},
      {"hidden [1 + A, H]", (1 + a) * c.hidden * f32, at(hidden_)},
      {"normed [A, H]", a * c.hidden * b16, at(scratch_.normed)},
      {"qkv [A, (Q + 2 G) D]", a * (queries + 2 * keys) * f32, at(scratch_.qkv)},
      {"query [A, Q D]", a * queries * b16, at(scratch_.query)},
      {"attended [A, Q D]", a * queries * b16, at(scratch_.attended)},
      {"gate_up [A, 2 I] or [P, 2 I]", (c.gated() ? 2 : 1) * m * f32, at(scratch_.gate_up)},
      {"activated [A, I] or [P, I]", m * b16, at(scratch_.activated)},
      {"branch [A, H]", network.adds_branches() || e > 0 ? a * c.hidden * f32 : 0,
       at(scratch_.branch)},
      {"logits [8, V]", kMaxDecodeRows * c.vocabulary * f32, at(scratch_.logits)},
  };
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
                   {{"ring keys [ring, G D]", shape_.ring_rows * keys * b16, at(ring_keys_)},
                    {"ring values [ring, G D]", shape_.ring_rows * keys * b16, at(ring_values_)},
                    {"draft hidden [A, H]", a * c.hidden * f32, at(scratch_.draft_hidden)},
                    {"draft pair [A, 2 H]", a * 2 * c.hidden * b16, at(scratch_.draft_pair)},
                    {"draft logits [1, V]", c.vocabulary * f32, at(scratch_.draft_logits)}});
  }
  return entries;
}

State::State(const Network& network, const StateShape& shape)
    : backend_(&network.backend()),
      shape_(shape),
      row_elements_(network.config().kv_heads * network.config().head_size),
      hidden_size_(network.config().hidden),
      memory_(backend_->allocate(bytes(network, shape))),
      recording_(backend_->make_recording()),
      origins_(shape.context) {
  std::byte* next = memory_->data();
  for (const Entry& entry : table(network)) {
    *entry.pointer = next;
    next += aligned(entry.bytes);
  }
}

std::size_t State::bytes(const Network& network, const StateShape& shape) {
  State layout;
  layout.shape_ = shape;
  std::size_t total = 0;
  for (const Entry& entry : layout.table(network))
    total += aligned(entry.bytes);
  return total;
}

kernels::KvRows State::kv(std::size_t layer) const {
  const std::size_t offset = layer * shape_.context * row_elements_;
  return {keys_ + offset, values_ + offset, shape_.context};
}

kernels::KvRows State::ring() const {
  return {ring_keys_, ring_values_, shape_.ring_rows};
}

std::vector<KeptTensor> State::tensors_of(const kernels::KvRows& rows) const {
  const std::size_t row_bytes = row_elements_ * sizeof(bf16);
  return {{reinterpret_cast<std::byte*>(rows.k), row_bytes, rows.slots},
          {reinterpret_cast<std::byte*>(rows.v), row_bytes, rows.slots}};
}

std::vector<KeptTensor> State::kept(std::size_t layer) const {
  return tensors_of(kv(layer));
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
