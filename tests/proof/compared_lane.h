// One lane, every request of which is compared with a cold run: a fresh engine with the same
// settings.
#pragma once

#include <optional>
#include <string>

#include "proof/stopped_run.h"

namespace engine::runtime::testing {

// What a request is held against, besides the bits of rows, logits and tokens. Turned off where a
// step that keeps a bug must be caught by bits alone.
struct Checks {
  bool accounting = true;  // `cached` and the record, against the formula computed here
  bool origins = true;     // each row's launch is a cold run's
  bool poison = true;      // NaN in everything that must not be read
};

// How many requests of each kind have been compared.
struct Coverage {
  std::size_t turns = 0, reused = 0, drafted = 0, sampled = 0, stopped = 0;
  std::size_t cancelled = 0, disconnected = 0, broken = 0;
  std::size_t ring_kept = 0, ring_absent = 0;  // of those that reused rows

  Coverage& operator+=(const Coverage& other);
};

class ComparedLane {
 public:
  ComparedLane(ProofModel& model, const LaneShape& shape, const Checks& checks = {});

  // Runs the request here, ended as the arguments say (see Ending), and on a fresh engine. Nothing,
  // or how the two differ.
  std::optional<std::string> take(const Request& request, Ending ending = Ending::kNone,
                                  std::uint32_t draw = 0);

  // Of the latest request.
  const Outcome& latest() const { return latest_; }
  const Outcome& latest_cold() const { return cold_; }
  std::size_t cached() const { return kept_; }
  const std::vector<Token>& prompt() const { return prompt_; }
  // The prompt and what was streamed after it.
  const std::vector<Token>& text() const { return text_; }

  Engine& engine() { return engine_; }
  const Coverage& coverage() const { return coverage_; }

 private:
  // The record as the contract describes it, kept by the test: what prefill completed, then the
  // reply but its last token.
  struct ExpectedRecord {
    std::vector<Token> tokens;
    std::size_t canonical_end = 0;
  };
  using Difference = std::optional<std::string>;

  Engine make() const;
  std::size_t reuse(const std::vector<Token>& prompt) const;
  bool keeps_ring() const;
  std::size_t exact_drafter_rows() const;
  void count(const Request& request, Ending ending);
  void remember(const Request& request);
  std::size_t complete() const { return std::max(kept_, latest_.prefilled); }
  Difference difference(const Request& request, const Engine& cold) const;
  Difference accounting_difference(const Request& request) const;
  Difference drafter_difference(const Request& request, const Engine& cold) const;

  ProofModel& model_;
  LaneShape shape_;
  Checks checks_;
  Engine engine_;
  Coverage coverage_;
  ExpectedRecord record_;
  Outcome latest_, cold_;
  std::vector<Token> prompt_, text_;
  std::size_t kept_ = 0;        // rows that the latest request had to reuse
  bool ring_kept_ = true;       // whether the drafter's rows before them were still there
  std::size_t exact_from_ = 0;  // drafter rows from here on have a cold run's bits
};

}  // namespace engine::runtime::testing
