// The vector form of fused16 against the scalar reference, bit for bit, for every instruction set
// that this build and machine have.
#include <gtest/gtest.h>

#include <cfenv>
#include <random>
#include <string>
#include <vector>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fused16_panel_test.cpp"
#include <hwy/foreach_target.h>  // must precede highway.h

#include "kernels/cpu/fused16-inl.h"

HWY_BEFORE_NAMESPACE();
namespace engine::kernels::cpu {
namespace HWY_NAMESPACE {

// c[rows, 32) of one group: a [rows, 16], w [16, 32].
void fused16_of_target(float* c, const bf16* a, std::size_t rows, const bf16* w) {
  std::vector<DecodedRow> decoded(rows);
  DecodedGroup group;
  for (std::size_t r = 0; r < rows; ++r)
    decode_row(decoded[r], a + r * kGroup);
  decode_group(group, w, kPanel);
  const TowardZero rounding;
  fused16_rows(c, kPanel, decoded.data(), rows, group);
}

}  // namespace HWY_NAMESPACE
}  // namespace engine::kernels::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace engine::kernels::cpu {
namespace {

HWY_EXPORT(fused16_of_target);

using numerics::bits_float;
using numerics::float_bits;

constexpr std::size_t kMostRows = 35;  // more than are scaled ahead, and odd

struct alignas(64) Case {
  float c[kMostRows][kPanel];
  bf16 a[kMostRows][kGroup];
  bf16 w[kGroup][kPanel];
};

// One way to fill a case; `random` is fresh for each case.
struct Family {
  const char* name;
  bf16 (*operand)(std::mt19937&);
  float (*accumulator)(std::mt19937&);
};

std::uint32_t below(std::mt19937& random, std::uint32_t n) {
  return random() % n;
}

// Sign and significand at random, exponent field in [low, low + count).
bf16 with_field(std::mt19937& random, std::uint32_t low, std::uint32_t count) {
  const std::uint32_t bits = random() & 0x807fu;
  return {static_cast<std::uint16_t>(bits | (low + below(random, count)) << 7)};
}
float float_with_field(std::mt19937& random, std::uint32_t low, std::uint32_t count) {
  return bits_float((random() & 0x807fffffu) | (low + below(random, count)) << 23);
}
bf16 weight_like(std::mt19937& random) {
  return numerics::from_float(std::normal_distribution<float>(0, 0.05f)(random));
}

const Family kFamilies[] = {
    {"normal", weight_like, [](auto& r) { return std::normal_distribution<float>(0, 0.1f)(r); }},
    {"wide", [](auto& r) { return with_field(r, 1, 254); },
     [](auto& r) { return float_with_field(r, 1, 254); }},
    {"any bits", [](auto& r) { return bf16{static_cast<std::uint16_t>(r())}; },
     [](auto& r) { return bits_float(r()); }},
    {"denormals", [](auto& r) { return with_field(r, 0, 2); },
     [](auto& r) { return float_with_field(r, 0, 2); }},
    {"denormal products", [](auto& r) { return with_field(r, 50, 30); },
     [](auto& r) { return float_with_field(r, 0, 60); }},
    {"lower limit of emax", [](auto& r) { return with_field(r, 74, 6); },
     [](auto& r) { return float_with_field(r, 20, 10); }},
    {"upper limit of emax", [](auto& r) { return with_field(r, 184, 6); },
     [](auto& r) { return float_with_field(r, 240, 15); }},
    {"overflow", [](auto& r) { return with_field(r, 188, 4); },
     [](auto& r) { return float_with_field(r, 250, 5); }},
    {"largest significands", [](auto&) { return bf16{0x3fff}; },
     [](auto& r) { return bits_float(0x407fffffu | (r() & 0x80000000u)); }},
    {"nearly largest",
     [](auto& r) { return bf16{static_cast<std::uint16_t>(0x3fff - below(r, 3))}; },
     [](auto& r) { return float_with_field(r, 127, 3); }},
    {"cancellation",
     [](auto& r) { return bf16{static_cast<std::uint16_t>(0x3f80 | (r() & 0x8003))}; },
     [](auto& r) { return static_cast<float>(static_cast<int>(below(r, 33)) - 16); }},
    {"mostly zero",
     [](auto& r) {
       return below(r, 8) ? bf16{static_cast<std::uint16_t>(r() & 0x8000)} : weight_like(r);
     },
     [](auto& r) {
       return below(r, 2) ? bits_float(r() & 0x80000000u) : float_with_field(r, 100, 20);
     }},
    {"zero products, any accumulator",
     [](auto& r) { return bf16{static_cast<std::uint16_t>(r() & 0x8000)}; },
     [](auto& r) { return bits_float(r()); }},
    {"infinities and NaN",
     [](auto& r) {
       return below(r, 40) ? weight_like(r)
                           : bf16{static_cast<std::uint16_t>(0x7f80 | (r() & 0x8001))};
     },
     [](auto& r) { return below(r, 40) ? 1.0f : bits_float(0x7f800000u | (r() & 0x80000000u)); }},
};

Case make_case(const Family& family, std::size_t rows, std::mt19937& random) {
  Case result;
  for (std::size_t r = 0; r < rows; ++r) {
    for (float& c : result.c[r])
      c = family.accumulator(random);
    for (bf16& a : result.a[r])
      a = family.operand(random);
  }
  for (auto& row : result.w) {
    for (bf16& w : row)
      w = family.operand(random);
  }
  return result;
}

class Fused16Panel : public testing::TestWithParam<std::int64_t> {
 protected:
  void SetUp() override { hwy::SetSupportedTargetsForTest(GetParam()); }
  void TearDown() override { hwy::SetSupportedTargetsForTest(0); }
};

void check(const Family& family, std::size_t rows, int cases) {
  std::mt19937 random(7);
  for (int i = 0; i < cases; ++i) {
    const Case input = make_case(family, rows, random);
    Case output = input;
    HWY_DYNAMIC_DISPATCH(fused16_of_target)(output.c[0], input.a[0], rows, input.w[0]);
    for (std::size_t r = 0; r < rows; ++r) {
      for (std::size_t n = 0; n < kPanel; ++n) {
        const float expected = numerics::fused16(input.c[r][n], input.a[r], &input.w[0][n], kPanel);
        ASSERT_EQ(float_bits(output.c[r][n]), float_bits(expected))
            << family.name << ", case " << i << ", row " << r << ", output " << n;
      }
    }
  }
}

TEST_P(Fused16Panel, EqualsTheReference) {
  for (const Family& family : kFamilies)
    check(family, 1, 2000);
}

TEST_P(Fused16Panel, EqualsTheReferenceForManyRows) {
  for (const Family& family : kFamilies) {
    check(family, 2, 300);
    check(family, kMostRows, 20);
  }
}

TEST_P(Fused16Panel, LeavesTheRoundingModeAsItWas) {
  std::mt19937 random(7);
  const Case input = make_case(kFamilies[0], 1, random);
  Case output = input;
  HWY_DYNAMIC_DISPATCH(fused16_of_target)(output.c[0], input.a[0], 1, input.w[0]);
  EXPECT_EQ(std::fegetround(), FE_TONEAREST);
}

INSTANTIATE_TEST_SUITE_P(Targets, Fused16Panel,
                         testing::ValuesIn(hwy::SupportedAndGeneratedTargets()),
                         [](const auto& test) { return std::string(hwy::TargetName(test.param)); });

}  // namespace
}  // namespace engine::kernels::cpu
#endif  // HWY_ONCE
