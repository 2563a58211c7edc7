// The one mutable thing of a lane: its KV rows, the drafter's ring and the scratch of a launch.
//
// Everything lies in one backend allocation carved from a table (state.cpp), so that the memory a
// lane needs is known, and printed, before anything runs.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "runtime/network.h"

namespace engine::runtime {

// A decode launch verifies at most this many rows: the pending token and up to seven drafts. Equals
// the decode class of numerics/split_k.h, within which a row's bits do not depend on the row count.
inline constexpr std::size_t kMaxDecodeRows = 8;

enum class Writer : std::uint8_t { kNone, kPrefill, kDecode };

// Who wrote a row: enough to tell why two runs' bits differ.
struct RowOrigin {
  Writer writer = Writer::kNone;
  std::uint32_t launch_begin = 0;  // position of the launch's first row
  std::uint32_t launch_rows = 0;
};

// One of the tensors that a layer keeps of every position, or the drafter's ring of its own: the
// row of position p lies at data + (p mod slots) * row_bytes. What a position has in all tensors of
// a layer is one row: written together, kept or dropped together.
struct KeptTensor {
  std::byte* data;  // [slots, row_bytes], in backend memory
  std::size_t row_bytes;
  std::size_t slots;
};

// Where a layer, or the drafter's ring, keeps its rows: `latents` with latent attention, else `kv`.
struct LayerRows {
  kernels::KvRows kv;
  kernels::LatentRows latents;
};

struct StateShape {
  std::size_t context;      // KV rows: prompt and generated tokens together
  std::size_t prompt_rows;  // the largest prefill chunk
  std::size_t ring_rows;    // the drafter's ring; 0 without a multi-token-prediction layer
};

class State {
 public:
  // Throws BackendError if the backend has no room for bytes(network, shape).
  State(const Network& network, const StateShape& shape);

  static std::size_t bytes(const Network& network, const StateShape& shape);

  const StateShape& shape() const { return shape_; }
  LayerRows rows(std::size_t layer) const;  // slots = context
  LayerRows ring() const;                   // slots = ring_rows

  // The same by what they keep: all that there is of a layer's rows, and of the ring's.
  std::vector<KeptTensor> kept(std::size_t layer) const;
  std::vector<KeptTensor> kept_ring() const;

  // Residual stream [1 + scratch rows, H]. Row 0 is the hidden state of the position before the
  // launch, carried over for the drafter; row 1 + r is row r of the launch.
  float* hidden(std::size_t row) const;

  // Scratch of one launch; see the table in state.cpp for shapes.
  struct Scratch {
    kernels::bf16* normed;
    float* qkv;
    kernels::bf16* query;
    kernels::bf16* attended;
    // Of latent attention.
    float* projected;
    kernels::bf16* low_query;
    float* queries;
    kernels::bf16* unrotated;
    kernels::bf16* latents;
    kernels::bf16* index_query;
    float* index_weights;
    float* index_scores;
    std::int32_t* chosen;  // by the last layer that chose
    float* gate_up;
    kernels::bf16* activated;
    float* branch;
    float* router_logits;
    kernels::Routes routes;
    kernels::bf16* gathered;
    float* expert_outputs;
    float* logits;
    float* draft_hidden;
    kernels::bf16* draft_pair;
    float* draft_logits;
  };
  const Scratch& scratch() const { return scratch_; }

  // Provenance of the KV rows, by position.
  void note_rows(std::size_t begin, std::size_t rows, Writer writer);
  const RowOrigin& origin(std::size_t position) const { return origins_[position]; }

  // Of the decode steps on these rows.
  kernels::Recording& recording() { return *recording_; }

  // The row of one position and layer: all kept tensors, one after another. Waits for the backend.
  std::vector<kernels::bf16> read_row(std::size_t layer, std::size_t position) const;

 private:
  struct Entry {
    const char* name;
    std::size_t bytes;
    void** pointer;
  };
  std::vector<Entry> table(const Network& network);
  std::vector<Entry> kept_table(const Network& network);
  std::vector<Entry> attention_table(const Network& network, std::size_t launch_rows);
  std::vector<KeptTensor> tensors_of(const LayerRows& rows) const;

  State() = default;

  kernels::Backend* backend_ = nullptr;
  StateShape shape_{};
  std::size_t row_elements_ = 0;             // G D, or C + B
  std::size_t index_size_ = 0;               // F
  std::vector<std::size_t> index_ordinals_;  // of each layer that has an indexer, among those
  std::size_t hidden_size_ = 0;
  std::unique_ptr<kernels::Buffer> memory_;
  kernels::bf16* keys_ = nullptr;
  kernels::bf16* values_ = nullptr;
  kernels::bf16* latents_ = nullptr;
  kernels::bf16* index_keys_ = nullptr;
  kernels::bf16* ring_keys_ = nullptr;
  kernels::bf16* ring_values_ = nullptr;
  kernels::bf16* ring_latents_ = nullptr;
  float* hidden_ = nullptr;
  Scratch scratch_{};
  std::unique_ptr<kernels::Recording> recording_;
  std::vector<RowOrigin> origins_;  // [context]
};

}  // namespace engine::runtime
