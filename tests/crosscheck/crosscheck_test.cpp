// Each family's tiny model, as the engine computes it, against transformers' float32 logits.
//
// The bound: fixtures hold, for each block of positions, how far independent uniform errors of
// bf16's unit roundoff move these logits at the places where the engine rounds. The engine's own
// errors are rounding errors: below half of an ulp, so at most as large as the estimate's and half
// as large on average, but neither independent nor uniform. As for the built-in model
// (tests/runtime/reference_model_test.cpp) twice the estimate is allowed; what the last tests break
// lies beyond that.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <iostream>

#include "crosscheck/folder.h"
#include "numerics/latent.h"
#include "runtime/drafter.h"
#include "runtime/forward.h"
#include "runtime/test_network.h"
#include "temp_folder.h"

namespace engine::crosscheck {
namespace {

using kernels::Phase;
using kernels::Token;
using nlohmann::ordered_json;

constexpr double kOfTheEstimate = 2;
constexpr std::size_t kChunk = 40;        // prefill in chunks, the last one incomplete
constexpr std::size_t kDecodedFrom = 88;  // the last rows as decode computes them

using Rows = std::vector<std::vector<float>>;

// Called after each launch with the position of its first row and how many it has.
using Look = std::function<void(runtime::State&, std::size_t, std::size_t)>;

// Logits [T, V] of the fixture's tokens.
Rows compute(const std::filesystem::path& folder, const std::vector<Token>& tokens,
             const Look& look = {}) {
  const runtime::testing::LoadedModel loaded(folder, {.threads = 1});
  const runtime::Network& network = loaded.network;
  runtime::State state(
      network,
      {.context = tokens.size(), .prompt_rows = kChunk, .ring_rows = network.mtp ? 1024U : 0U});
  const std::size_t vocabulary = network.config().vocabulary;
  Rows rows;
  for (std::size_t begin = 0; begin < tokens.size(); begin = rows.size()) {
    const bool decode = begin >= kDecodedFrom;
    const std::size_t end = decode ? tokens.size() : std::min(begin + kChunk, kDecodedFrom);
    forward(network, state, std::span(tokens).subspan(begin, end - begin), begin,
            decode ? Phase::kDecode : Phase::kPrefill);
    if (look) look(state, begin, end - begin);
    for (std::size_t row = 0; row < end - begin; ++row) {
      compute_logits(network, state, 1 + row, 1);
      const float* logits = state.scratch().logits;
      rows.emplace_back(logits, logits + vocabulary);
    }
  }
  return rows;
}

// The largest ratio of a block's deviation, root mean square, to its estimate.
double deviation(const Fixture& fixture, const Rows& rows, const char* part = "model") {
  const ordered_json& expected = fixture.file[part];
  const std::size_t block = fixture.file["block"];
  double worst = 0;
  for (std::size_t begin = 0; begin < rows.size(); begin += block) {
    double sum = 0;
    std::size_t count = 0;
    for (std::size_t r = begin; r < begin + block; ++r) {
      const auto& columns = fixture.file["columns"][r];
      for (std::size_t i = 0; i < columns.size(); ++i, ++count)
        sum += std::pow(rows[r][columns[i]] - expected["logits"][r][i].get<double>(), 2);
    }
    const double estimate = expected["rounding_rms"][begin / block];
    worst = std::max(worst, std::sqrt(sum / static_cast<double>(count)) / estimate);
  }
  return worst;
}

class Crosscheck : public ::testing::TestWithParam<std::filesystem::path> {
 protected:
  Rows rows_of(const ordered_json& config, const std::string& of = "none", double centre = 0) {
    write_folder(folder_.path(), fixture_, config, of, centre);
    return compute(folder_.path(), fixture_.file["tokens"]);
  }

  TempFolder folder_;
  Fixture fixture_ = Fixture::load(GetParam());
};

TEST_P(Crosscheck, LogitsAreTransformersUpToRounding) {
  const Rows rows = rows_of(fixture_.file["config"]);
  const double found = deviation(fixture_, rows);
  RecordProperty("deviation", std::to_string(found));
  std::cout << fixture_.name << ": " << found << " of the estimate\n";
  EXPECT_LE(found, kOfTheEstimate);
  EXPECT_GT(found, 0) << "no bf16 forward is exact";
}

// Row by row, as a round of decode follows them.
TEST_P(Crosscheck, DraftLogitsAreTheLayersUpToRounding) {
  if (!fixture_.file.contains("drafter")) return;  // no multi-token-prediction layer
  const std::vector<Token> tokens = fixture_.file["tokens"];
  write_folder(folder_.path(), fixture_, fixture_.file["config"]);
  const runtime::testing::LoadedModel loaded(folder_.path(), {.threads = 1});
  runtime::State state(loaded.network,
                       {.context = tokens.size(), .prompt_rows = tokens.size(), .ring_rows = 1024});
  forward(loaded.network, state, tokens, 0, Phase::kPrefill);
  runtime::Drafter drafter(loaded.network, state);
  Rows rows;
  for (std::size_t row = 0; row < fixture_.file["drafter"]["logits"].size(); ++row) {
    drafter.follow({&tokens[row + 1], 1}, state.hidden(1 + row));
    (void)drafter.draft(1);
    const float* logits = state.scratch().draft_logits;
    rows.emplace_back(logits, logits + loaded.model.config().vocabulary);
  }
  const double found = deviation(fixture_, rows, "drafter");
  std::cout << fixture_.name << ", drafter: " << found << " of the estimate\n";
  EXPECT_LE(found, kOfTheEstimate);
  EXPECT_GT(found, 0) << "no bf16 forward is exact";
}

// Where bf16's roundings do not decide (make_fixtures.py).
TEST_P(Crosscheck, TheLastIndexerChoosesWhatTransformersDoes) {
  if (!fixture_.file.contains("choice")) return;  // no sparse attention
  const std::size_t most = fixture_.file["choice"]["most"];
  const ordered_json& expected = fixture_.file["choice"]["rows"];
  std::size_t compared = 0;
  write_folder(folder_.path(), fixture_, fixture_.file["config"]);
  compute(folder_.path(), fixture_.file["tokens"],
          [&](runtime::State& state, std::size_t begin, std::size_t rows) {
            for (std::size_t row = 0; row < rows; ++row) {
              const auto marks = expected.find(std::to_string(begin + row));
              if (marks == expected.end()) continue;
              const std::int32_t* first = state.scratch().chosen + row * most;
              std::string found(begin + row + 1, '0');
              for (const std::int32_t position :
                   std::span(first, numerics::chosen_count(begin + row, most)))
                found.at(static_cast<std::size_t>(position)) = '1';
              const std::string sure = *marks;
              for (std::size_t i = 0; i < sure.size(); ++i)
                if (sure[i] == '?') found[i] = '?';
              EXPECT_EQ(found, sure) << "row " << begin + row;
              ++compared;
            }
          });
  EXPECT_EQ(compared, expected.size());
}

TEST_P(Crosscheck, TheConfigOfTransformers4MeansTheSame) {
  EXPECT_EQ(rows_of(fixture_.file["config_of_transformers_4"]), rows_of(fixture_.file["config"]));
}

// A way to break the model, at a place of the config; nothing where the family does not have it.
struct Break {
  const char* place;
  double factor, summand;
};

constexpr Break kBreaks[] = {
    {"/rope_parameters/rope_theta", 1.1, 0},
    {"/rope_parameters/factor", 1.1, 0},
    {"/rope_parameters/low_freq_factor", 1.3, 0},
    {"/rope_parameters/full_attention/rope_theta", 4, 0},
    {"/rope_parameters/full_attention/factor", 1.3, 0},
    {"/rope_parameters/sliding_attention/rope_theta", 1.1, 0},
    {"/sliding_window", 1, 1},
    {"/sliding_window", 1, -1},
    {"/attn_logit_softcapping", 1.1, 0},
    {"/final_logit_softcapping", 1.1, 0},
    {"/query_pre_attn_scalar", 1, 4},
    {"/embedding_multiplier", 1.05, 0},
    {"/residual_multiplier", 1.05, 0},
    {"/attention_multiplier", 1.1, 0},
    {"/logits_scaling", 1.05, 0},
    {"/routed_scaling_factor", 1.2, 0},
    {"/num_experts_per_tok", 1, -1},
    {"/num_experts_per_tok", 1, 1},
    {"/topk_group", 1, 1},
    {"/index_topk", 1, -1},
    {"/rope_parameters/mscale_all_dim", 1.2, 0},
};

// The check can fail: a constant that is a little off moves the logits beyond the bound.
TEST_P(Crosscheck, AConstantThatIsOffIsSeen) {
  for (const Break& one : kBreaks) {
    ordered_json config = fixture_.file["config"];
    const ordered_json::json_pointer place(one.place);
    if (!config.contains(place) || !config[place].is_number()) continue;
    const double value = config[place].get<double>() * one.factor + one.summand;
    config[place] = value;
    // More than the text has positions: nothing is chosen.
    if (place.back() == "index_topk" && value > fixture_.file["tokens"].size()) continue;
    if (one.summand != 0) config[place] = static_cast<int>(value);
    const double found = deviation(fixture_, rows_of(config));
    std::cout << fixture_.name << " " << one.place << " = " << value << ": " << found << "\n";
    EXPECT_GT(found, kOfTheEstimate) << one.place;
  }
}

// ... and so does a norm that adds 1 to its weights where it should not, or the other way round.
TEST_P(Crosscheck, ANormThatAddsOneIsSeen) {
  EXPECT_GT(deviation(fixture_, rows_of(fixture_.file["config"], "model.norm.weight", 1)),
            kOfTheEstimate);
}

INSTANTIATE_TEST_SUITE_P(Families, Crosscheck, ::testing::ValuesIn(fixture_files()),
                         [](const auto& file) { return file.param.stem().string(); });

}  // namespace
}  // namespace engine::crosscheck
