// Backend::repeat gives the bits of the step itself, wherever the text has moved since the last
// one.
#include "backends.h"
#include "numerics/rotary.h"

namespace engine::kernels {
namespace {

constexpr HeadShape kHeads{4, 2, 64};
constexpr std::size_t kSlots = 600, kRotary = 64, kRows = 8;
constexpr std::size_t kQueries = kHeads.query_heads * kHeads.head_size;
constexpr std::size_t kKeys = kHeads.kv_heads * kHeads.head_size;

class Repeat : public EachBackend {
 protected:
  // KV rows, and what a step over them writes.
  struct Text {
    explicit Text(Backend& backend)
        : k(backend, normal_bf16s(kSlots * kKeys, 1.0f, 1)),
          v(backend, normal_bf16s(kSlots * kKeys, 1.0f, 2)),
          query(backend, kRows * kQueries),
          out(backend, kRows * kQueries),
          out_of_window(backend, kRows * kQueries) {}
    KvRows kv() { return {k.data(), v.data(), kSlots}; }

    Device<bf16> k, v, query, out, out_of_window;
  };

  // Attention as of two layers, one of which has a window.
  void step(Text& text, std::size_t rows, std::size_t position) {
    const RotaryTable rotary{cosine.data(), sine.data(), kRotary, false};
    backend->write_qkv(text.query.data(), text.kv(), kHeads,
                       {qkv.data(), kNoNorm, kNoNorm, false, rotary, position}, rows);
    const numerics::ScoreMap scores{numerics::score_scale(kHeads.head_size)};
    backend->attention(text.out.data(), text.kv(), kHeads,
                       {text.query.data(), position, 0, kWholeContext, Phase::kDecode, scores},
                       rows);
    backend->attention(text.out_of_window.data(), text.kv(), kHeads,
                       {text.query.data(), position, 0, 100, Phase::kDecode, scores}, rows);
  }

  void expect_same(Text& repeated, Text& plain) {
    EXPECT_TRUE(same_bits(repeated.k.host(), plain.k.host(), kKeys));
    EXPECT_TRUE(same_bits(repeated.v.host(), plain.v.host(), kKeys));
    EXPECT_TRUE(same_bits(repeated.out.host(), plain.out.host(), kQueries));
    EXPECT_TRUE(same_bits(repeated.out_of_window.host(), plain.out_of_window.host(), kQueries));
  }

  Device<float> qkv{*backend, normal_floats(kRows*(kQueries + 2 * kKeys), 1.0f, 3)};
  Device<float> cosine{*backend, normal_floats(kSlots* kRotary / 2, 1.0f, 4)};
  Device<float> sine{*backend, normal_floats(kSlots* kRotary / 2, 1.0f, 5)};
};

TEST_P(Repeat, EqualsTheStep) {
  Text repeated(*backend), plain(*backend);
  const std::unique_ptr<Recording> recording = backend->make_recording();
  // Onwards across the end of a segment, far on, and back; each row count twice and more.
  for (const std::size_t position :
       {250u, 251u, 253u, 254u, 257u, 300u, 511u, 590u, 591u, 520u, 515u, 30u, 31u}) {
    for (const std::size_t rows : {1u, 3u}) {
      SCOPED_TRACE(testing::Message() << rows << " rows at " << position);
      backend->repeat(*recording, rows, position, [&] { step(repeated, rows, position); });
      step(plain, rows, position);
      expect_same(repeated, plain);
    }
  }
}

TEST_P(Repeat, AStepThatThrowsLeavesTheBackendUsable) {
  Text repeated(*backend), plain(*backend);
  const std::unique_ptr<Recording> recording = backend->make_recording();
  for (int i = 0; i < 2; ++i) {
    EXPECT_THROW(
        backend->repeat(*recording, 1, 100, [] { throw std::runtime_error("an operation"); }),
        std::runtime_error);
  }
  backend->repeat(*recording, 1, 100, [&] { step(repeated, 1, 100); });
  step(plain, 1, 100);
  expect_same(repeated, plain);
}

INSTANTIATE_FOR_EACH_BACKEND(Repeat);

}  // namespace
}  // namespace engine::kernels
