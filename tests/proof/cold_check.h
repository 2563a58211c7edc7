// A lane against a cold run of the same request: bits of the KV rows, who wrote them, bits of the
// drafter's ring. And poison for every row that must not be read.
#pragma once

#include <optional>
#include <string>

#include "proof/fallible_backend.h"
#include "runtime/poison.h"
#include "runtime/test_network.h"

namespace engine::runtime::testing {

// PROOF_BACKEND, or "cpu": what the proofs run on.
std::string proof_backend();

// A preset on a backend of its own that can be told to break.
struct ProofModel {
  model::Model model;
  FallibleBackend backend;
  Network network;

  explicit ProofModel(bool row_invariant = false, const std::string& preset = "micro")
      : model(model::Model::load(model_folder(preset))),
        backend(
            kernels::make_backend(proof_backend(), {.threads = 1, .row_invariant = row_invariant})),
        network(model, backend) {}
};

// One of each preset for the process. For tests of one thread.
ProofModel& shared_model(const std::string& preset = "micro");

// Rows [begin, end).
struct Rows {
  std::size_t begin, end;
};

// The first row of [0, rows), lowest position then lowest layer, whose bits differ: "row 62, layer
// 1: decode [60, 64) here, prefill [0, 64) cold".
std::optional<std::string> row_difference(const Engine& lane, const Engine& cold, std::size_t rows);

// The first row of [0, rows) that was not computed in a launch of the same kind, begin and row
// count. Stronger than bits, which such a launch changes in one row of many only.
std::optional<std::string> origin_difference(const Engine& lane, const Engine& cold,
                                             std::size_t rows);

// The first drafter row of `rows` whose bits differ. REQUIRES: both rings hold them.
std::optional<std::string> ring_difference(const Engine& lane, const Engine& cold, Rows rows);

// The first drafter row of `rows` that holds a NaN, which only poison brings in.
std::optional<std::string> ring_poison(const Engine& lane, Rows rows);

// One position's row in the drafter's ring: all kept tensors, one after another.
std::vector<std::uint16_t> ring_row(const Engine& engine, std::size_t position);

// NaN into everything that a run which keeps rows [0, kept), and of the drafter's ring `ring`, must
// not read: the other rows of every layer, the other slots, and the hidden states of the last
// launch.
void poison_all_but(const Engine& engine, std::size_t kept, Rows ring);

}  // namespace engine::runtime::testing
