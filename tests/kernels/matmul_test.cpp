// Matrix products against the obvious loop.
#include <algorithm>

#include "backends.h"
#include "numerics/fused16.h"
#include "numerics/split_k.h"

namespace engine::kernels {
namespace {

struct Problem {
  std::size_t rows, outputs, inner;
  bool bias = false, accumulate = false, row_invariant = false;

  std::vector<bf16> x = normal_bf16s(rows * inner, 1.0f, 1);
  std::vector<bf16> w = normal_bf16s(outputs * inner, 0.1f, 2);
  std::vector<bf16> b = normal_bf16s(outputs, 1.0f, 3);
  std::vector<float> before = normal_floats(rows * outputs, 1.0f, 4);
};

std::vector<float> expected(const Problem& p) {
  const std::size_t split = p.row_invariant ? numerics::split_k_row_invariant(p.outputs, p.inner)
                                            : numerics::split_k(p.rows, p.outputs, p.inner);
  const std::size_t slice = p.inner / split;
  std::vector<float> out;
  for (std::size_t r = 0; r < p.rows; ++r) {
    for (std::size_t n = 0; n < p.outputs; ++n) {
      const bf16* x = &p.x[r * p.inner];
      const bf16* w = &p.w[n * p.inner];
      float sum = numerics::fused_chain(0.0f, x, w, slice);
      for (std::size_t s = 1; s < split; ++s) {
        sum = sum + numerics::fused_chain(0.0f, x + s * slice, w + s * slice, slice);
      }
      if (p.bias) sum = sum + numerics::to_float(p.b[n]);
      if (p.accumulate) sum = sum + p.before[r * p.outputs + n];
      out.push_back(sum);
    }
  }
  return out;
}

// Weights are given in two parts where there are enough rows.
std::vector<float> computed(Backend& backend, const Problem& p, std::size_t rows) {
  const std::size_t head = p.outputs > 1 ? p.outputs / 3 + 1 : 1;
  std::vector<MatrixPart> parts{{p.w.data(), head}};
  if (head < p.outputs) parts.push_back({p.w.data() + head * p.inner, p.outputs - head});
  const auto matrix = backend.prepare(parts, p.inner);
  EXPECT_EQ(matrix->outputs(), p.outputs);
  EXPECT_EQ(matrix->inner(), p.inner);
  Device<bf16> x(backend, p.x);
  Device<float> out(backend, p.before);
  const bf16* bias = p.bias ? backend.place(p.b.data(), p.b.size()) : nullptr;
  backend.matmul(out.data(), x.data(), *matrix, bias, rows, p.accumulate);
  return out.host();
}

class Matmul : public EachBackend {};

TEST_P(Matmul, EqualsTheObviousLoop) {
  const Problem problems[] = {
      {1, 1, 16},      {1, 96, 256},  {3, 33, 64, true}, {8, 64, 512, true, true},
      {9, 64, 512},    {48, 40, 512}, {49, 40, 512},     {65, 31, 128, false, true},
      {130, 100, 192}, {4, 256, 1040}};
  for (const Problem& p : problems) {
    SCOPED_TRACE(testing::Message() << p.rows << " x " << p.outputs << " x " << p.inner);
    EXPECT_TRUE(same_bits(computed(*backend, p, p.rows), expected(p), p.outputs));
  }
}

// Shapes for every way that a card may cut many rows: tiles of either width, whole ones and halves,
// more of them than fit at a time, slices, and a last tile that sticks out on both sides.
TEST_P(Matmul, ManyRowsEqualTheCpus) {
  const auto cpu = make_backend("cpu", {.threads = 2});
  for (const Problem& p :
       {Problem{256, 264, 64}, Problem{300, 264, 320, true, true}, Problem{256, 10240, 64},
        Problem{256, 12800, 64, false, true}, Problem{520, 17408, 64, true},
        Problem{256, 264, 768, true, true}, Problem{390, 520, 1280}, Problem{300, 100, 192},
        Problem{300, 264, 80}}) {
    SCOPED_TRACE(testing::Message() << p.rows << " x " << p.outputs << " x " << p.inner);
    EXPECT_TRUE(same_bits(computed(*backend, p, p.rows), computed(*cpu, p, p.rows), p.outputs));
  }
}

TEST_P(Matmul, OddValuesTakeTheSamePath) {
  Problem p{5, 48, 160};
  std::mt19937 random(5);
  for (std::vector<bf16>* values : {&p.x, &p.w}) {
    for (bf16& value : *values) {
      if (random() % 64 == 0) value.bits = static_cast<std::uint16_t>(random() & 0xff7f);
      if (random() % 16 == 0) value.bits &= 0x807f;  // zeros and denormals
    }
  }
  EXPECT_TRUE(same_bits(computed(*backend, p, p.rows), expected(p), p.outputs));
}

TEST_P(Matmul, DecodeRowsDoNotDependOnEachOther) {
  const Problem all{8, 70, 768};
  const std::vector<float> together = computed(*backend, all, 8);
  for (std::size_t rows = 1; rows < 8; ++rows) {
    const std::vector<float> fewer = computed(*backend, all, rows);
    EXPECT_TRUE(std::equal(
        fewer.begin(), fewer.begin() + rows * all.outputs, together.begin(),
        [](float a, float b) { return numerics::float_bits(a) == numerics::float_bits(b); }))
        << rows << " rows";
  }
}

TEST_P(Matmul, PrefillBitsDependOnTheRowCount) {
  const Problem few{8, 64, 512}, many{200, 64, 512};
  ASSERT_NE(numerics::split_k(8, 64, 512), numerics::split_k(200, 64, 512));
  Problem first_rows = many;
  first_rows.rows = 8;
  std::vector<float> of_many = computed(*backend, many, 200);
  of_many.resize(8 * many.outputs);
  std::vector<float> of_few = expected(first_rows);
  EXPECT_FALSE(same_bits(of_many, of_few, many.outputs));
}

TEST_P(Matmul, RowInvariantModeDoesNot) {
  const auto invariant = make({.threads = 2, .row_invariant = true});
  const Problem p{200, 64, 512, false, false, true};
  EXPECT_TRUE(same_bits(computed(*invariant, p, p.rows), expected(p), p.outputs));
}

TEST_P(Matmul, ThreadsDoNotChangeBits) {
  const Problem p{70, 300, 256};
  const auto one = make({.threads = 1});
  EXPECT_TRUE(same_bits(computed(*backend, p, p.rows), computed(*one, p, p.rows), p.outputs));
}

// Shapes on both sides of what a backend may do in one launch: gates in whole tiles of 64 or not, a
// last stage that is not full, one slice or several.
TEST_P(Matmul, SiluMulEqualsBothOperations) {
  for (const Problem& p : {Problem{3, 256, 80}, Problem{65, 256, 80}, Problem{130, 384, 96},
                           Problem{200, 144, 80}, Problem{100, 256, 512}, Problem{300, 512, 64},
                           Problem{256, 8960, 64}, Problem{520, 768, 320}}) {
    SCOPED_TRACE(testing::Message() << p.rows << " x " << p.outputs << " x " << p.inner);
    const std::size_t intermediate = p.outputs / 2;
    const MatrixPart part{p.w.data(), p.outputs};
    const auto matrix = backend->prepare(std::span(&part, 1), p.inner);
    Device<bf16> x(*backend, p.x), out(*backend, p.rows * intermediate);
    Device<bf16> apart(*backend, p.rows * intermediate);
    Device<float> gate_up(*backend, p.rows * p.outputs);
    backend->matmul(gate_up.data(), x.data(), *matrix, nullptr, p.rows, false);
    backend->activate(apart.data(), gate_up.data(), p.rows, intermediate,
                      numerics::Activation::kSiluGated);
    backend->matmul_activate(out.data(), gate_up.data(), x.data(), *matrix, nullptr, p.rows,
                             numerics::Activation::kSiluGated);
    EXPECT_TRUE(same_bits(out.host(), apart.host(), intermediate));
  }
}

INSTANTIATE_FOR_EACH_BACKEND(Matmul);

}  // namespace
}  // namespace engine::kernels
