// The built-in model, as the engine computes it, against float64 logits of its own definition
// (engine/training/reference_logits.py). That file also tells how far bf16's roundings move
// these logits: it repeats the forward with a random relative error within bf16's unit roundoff at
// every place where the engine rounds; `rounding_rms` is the root mean square of what that does.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "runtime/drafter.h"
#include "runtime/forward.h"
#include "runtime/test_network.h"

namespace engine::runtime {
namespace {

using kernels::Token;
using nlohmann::json;

// The estimate draws errors that are independent and uniform; the engine's are neither.
constexpr double kOfTheEstimate = 2;

struct Reference {
  const std::filesystem::path folder = REFERENCE_MODEL_DIR;
  const json file = json::parse(std::ifstream(folder / "reference_logits.json"));
  const std::vector<Token> tokens = file["tokens"];
  testing::LoadedModel loaded{folder, {.threads = 1}};
  State state{loaded.network, {.context = 256, .prompt_rows = 256, .ring_rows = 1024}};

  Reference() { forward(loaded.network, state, tokens, 0, kernels::Phase::kPrefill); }

  std::size_t vocabulary() const { return loaded.model.config().vocabulary; }
};

// Root mean square of the difference of `got` [rows, V] from the reference's rows.
double deviation(const json& rows, const std::vector<std::vector<float>>& got) {
  double sum = 0;
  std::size_t count = 0;
  for (std::size_t r = 0; r < got.size(); ++r) {
    for (std::size_t v = 0; v < got[r].size(); ++v, ++count)
      sum += std::pow(got[r][v] - rows[r][v].get<double>(), 2);
  }
  return std::sqrt(sum / static_cast<double>(count));
}

void expect_close(const json& part, const std::vector<std::vector<float>>& got) {
  ASSERT_EQ(got.size(), part["logits"].size());
  ASSERT_EQ(got[0].size(), part["logits"][0].size());
  const double estimate = part["rounding_rms"];
  const double found = deviation(part["logits"], got);
  EXPECT_LE(found, kOfTheEstimate * estimate);
  EXPECT_GT(found, 0) << "no bf16 forward is exact";
}

TEST(ReferenceModel, LogitsAreFloat64sUpToRounding) {
  Reference reference;
  const std::size_t first = reference.file["model"]["first_row"];
  const std::size_t rows = reference.tokens.size() - first;
  compute_logits(reference.loaded.network, reference.state, 1 + first, rows);
  const float* logits = reference.state.scratch().logits;
  std::vector<std::vector<float>> got;
  for (std::size_t r = 0; r < rows; ++r)
    got.emplace_back(logits + r * reference.vocabulary(),
                     logits + (r + 1) * reference.vocabulary());
  expect_close(reference.file["model"], got);
}

TEST(ReferenceModel, DraftLogitsAreFloat64sUpToRounding) {
  Reference reference;
  const std::size_t first = reference.file["drafter"]["first_row"];
  Drafter drafter(reference.loaded.network, reference.state);
  drafter.restart();
  std::vector<std::vector<float>> got;
  for (std::size_t row = 0; row + 1 < reference.tokens.size(); ++row) {
    drafter.follow({&reference.tokens[row + 1], 1}, reference.state.hidden(1 + row));
    if (row < first) continue;
    (void)drafter.draft(1);
    const float* logits = reference.state.scratch().draft_logits;
    got.emplace_back(logits, logits + reference.vocabulary());
  }
  expect_close(reference.file["drafter"], got);
}

}  // namespace
}  // namespace engine::runtime
