#include "model/convert.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "model/init_model.h"
#include "model/tensor_store.h"
#include "model/weights.h"
#include "test_files.h"

namespace engine::model {
namespace {

using testing::HasSubstr;

template <typename T>
std::vector<float> floats(const char* dtype, std::vector<T> bits) {
  return to_floats({"t", dtype, {bits.size()}, std::as_bytes(std::span(bits))});
}

// The values of an FP8 tensor of one row with one scale, as floats of the bf16 made of them.
std::vector<float> fp8(const char* dtype, const std::vector<std::uint8_t>& bits, float scale) {
  const TensorView tensor{"t", dtype, {1, bits.size()}, std::as_bytes(std::span(bits))};
  const WeightScales scales{"s", {scale}, {1, bits.size()}};
  ConvertedValues converted;
  const bf16* const values = converted.add(tensor, &scales, "file");
  std::vector<float> result;
  for (std::size_t i = 0; i < bits.size(); ++i)
    result.push_back(numerics::to_float(values[i]));
  return result;
}

TEST(Convert, ReadsF16) {
  const std::vector<float> values = floats<std::uint16_t>(
      "F16", {0x3c00, 0xc000, 0x0001, 0x03ff, 0x0400, 0x7bff, 0xfc00, 0x8000});
  const std::vector<float> expected{1,        -2,    0x1p-24f,  1023 * 0x1p-24f,
                                    0x1p-14f, 65504, -INFINITY, -0.0f};
  EXPECT_EQ(values, expected);
  EXPECT_TRUE(std::signbit(values.back()));
  EXPECT_TRUE(std::isnan(floats<std::uint16_t>("F16", {0x7c01})[0]));
}

TEST(Convert, ReadsFp8) {
  EXPECT_EQ(fp8("F8_E4M3", {0x38, 0xb8, 0x01, 0x07, 0x08, 0x7e, 0x00}, 1),
            (std::vector<float>{1, -1, 0x1p-9f, 7 * 0x1p-9f, 0x1p-6f, 448, 0}));
  EXPECT_EQ(fp8("F8_E5M2", {0x3c, 0x01, 0x03, 0x04, 0x7b, 0xfc}, 1),
            (std::vector<float>{1, 0x1p-16f, 3 * 0x1p-16f, 0x1p-14f, 57344, -INFINITY}));
  for (const std::uint8_t nan : {0x7f, 0xff})
    EXPECT_TRUE(std::isnan(fp8("F8_E4M3", {nan}, 1)[0]));
}

TEST(Convert, RoundsF32ToTheNearestEven) {
  const std::vector<float> from{
      1 + 0x1p-8f, 1 + 3 * 0x1p-8f, 1 + 0x1p-8f + 0x1p-20f, 1 + 0x1p-8f - 0x1p-20f,
      3.4e38f,     0x1p-133f};
  const TensorView tensor{"t", "F32", {from.size()}, std::as_bytes(std::span(from))};
  ConvertedValues converted;
  const bf16* const values = converted.add(tensor, nullptr, "file");
  const std::vector<float> expected{1, 1 + 0x1p-6f, 1 + 0x1p-7f, 1, INFINITY, 0x1p-133f};
  for (std::size_t i = 0; i < from.size(); ++i)
    EXPECT_EQ(numerics::to_float(values[i]), expected[i]) << i;
}

// 1.125 * scale lies just above a tie of bf16; float32 rounds it onto the tie, which goes to even.
TEST(Convert, RoundsAnFp8ProductTwice) {
  const float scale = (1 + 0x1p-8f) / 1.125f;
  const float product = 1.125f * scale;
  EXPECT_EQ(fp8("F8_E4M3", {0x39}, scale)[0], numerics::to_float(numerics::from_float(product)));
  EXPECT_EQ(product, 1 + 0x1p-8f);
  EXPECT_NE(1.125 * static_cast<double>(scale), static_cast<double>(product));
}

// A folder with one matrix "m.weight" [rows, columns] in FP8, and what a test adds to it.
class Fp8Scales : public testing::Test {
 protected:
  static constexpr std::size_t kRows = 5, kColumns = 6;

  void write_config(const nlohmann::json& quantization) {
    write_bytes(dir_ / "config.json", nlohmann::json{{"quantization_config", quantization}}.dump());
  }

  TensorStore store(const std::vector<TensorSource>& more) {
    std::vector<TensorSource> tensors = more;  // first, where they are aligned
    tensors.push_back({"m.weight", "F8_E4M3", {kRows, kColumns}, std::as_bytes(std::span(ones_))});
    write_safetensors(dir_ / "model.safetensors", tensors);
    return TensorStore::open(dir_.path());
  }

  std::vector<float> values(const std::vector<TensorSource>& more) {
    const TensorStore opened = store(more);
    const TensorView& weight = *opened.find("m.weight");
    const WeightScales scales = find_scales(weight, opened);
    ConvertedValues converted;
    const bf16* const made = converted.add(weight, &scales, "file");
    std::vector<float> result(kRows * kColumns);
    std::transform(made, made + result.size(), result.begin(), numerics::to_float);
    return result;
  }

  std::string error(const std::vector<TensorSource>& more) {
    return error_of([&] { values(more); });
  }

  TensorSource scales(const std::string& ending, std::vector<std::size_t> shape,
                      std::vector<float> of) {
    scales_ = std::move(of);
    return {"m.weight" + ending, "F32", std::move(shape), std::as_bytes(std::span(scales_))};
  }

  TempFolder dir_;
  std::vector<std::uint8_t> ones_ = std::vector<std::uint8_t>(kRows * kColumns, 0x38);
  std::vector<float> scales_;
};

TEST_F(Fp8Scales, OfBlocksCutOffAtTheEdges) {
  write_config({{"quant_method", "fp8"}, {"weight_block_size", {2, 4}}});
  const std::vector<float> got = values({scales("_scale_inv", {3, 2}, {1, 2, 3, 4, 5, 6})});
  for (std::size_t row = 0; row < kRows; ++row) {
    for (std::size_t column = 0; column < kColumns; ++column)
      EXPECT_EQ(got[row * kColumns + column], row / 2 * 2 + column / 4 + 1) << row << " " << column;
  }
}

TEST_F(Fp8Scales, OfRowsOrOfAll) {
  const std::vector<float> rows = values({scales("_scale", {kRows, 1}, {1, 2, 3, 4, 5})});
  EXPECT_EQ(rows[0], 1);
  EXPECT_EQ(rows[kRows * kColumns - 1], 5);
  EXPECT_EQ(values({scales("_scale", {}, {0.5})}), std::vector<float>(kRows * kColumns, 0.5f));
  EXPECT_EQ(values({scales("_scale_inv", {1}, {2})}), std::vector<float>(kRows * kColumns, 2.0f));
}

TEST_F(Fp8Scales, ThatDoNotFitAreRefused) {
  EXPECT_THAT(error({}), HasSubstr("m.weight is F8_E4M3, but there is no m.weight_scale_inv"));
  EXPECT_THAT(error({scales("_scale", {4}, {1, 2, 3, 4})}),
              HasSubstr("m.weight_scale: scales [4] do not fit m.weight [5, 6]"));
  EXPECT_THAT(error({scales("_scale_inv", {3, 2}, {1, 2, 3, 4, 5, 6})}), HasSubstr("do not fit"));
  write_config({{"quant_method", "fp8"}, {"weight_block_size", {2, 4}}});
  EXPECT_THAT(error({scales("_scale_inv", {2, 3}, {1, 2, 3, 4, 5, 6})}),
              HasSubstr("do not fit m.weight [5, 6] in blocks of 2 x 4"));
}

TEST_F(Fp8Scales, ThatAreNoScalesAreRefused) {
  EXPECT_THAT(error({scales("_scale", {1}, {NAN})}),
              HasSubstr("m.weight_scale[0]: a scale of nan"));
  EXPECT_THAT(error({scales("_scale", {1}, {INFINITY})}), HasSubstr("a scale of inf"));
  EXPECT_THAT(error({scales("_scale", {5}, {1, 2, -3, 4, 5})}),
              HasSubstr("m.weight_scale[2]: a scale of -3"));
  TensorSource integers = scales("_scale", {1}, {1});
  integers.dtype = "I32";
  EXPECT_THAT(error({integers}), HasSubstr("expected scales as BF16, F16 or F32, found I32"));
}

TEST_F(Fp8Scales, ConfigurationsOfOtherQuantisationsAreRefusedByName) {
  for (const char* method : {"awq", "gptq", "bitsandbytes", "mxfp4"}) {
    write_config({{"quant_method", method}});
    EXPECT_THAT(error({}), HasSubstr(std::string("weights quantised by ") + method));
  }
  write_config({{"quant_method", "fp8"}, {"weight_block_size", {128}}});
  EXPECT_THAT(error({}), HasSubstr("weight_block_size: expected [rows, columns]"));
  write_config({{"quant_method", "fp8"}, {"weight_block_size", {0, 128}}});
  EXPECT_THAT(error({}), HasSubstr("weight_block_size[0]"));
}

TEST(ConvertedValues, AreGivenBackByWholePages) {
  const std::vector<float> from(100'000, 1.5f);
  const TensorView tensor{"t", "F32", {from.size()}, std::as_bytes(std::span(from))};
  ConvertedValues converted;
  const bf16* const values = converted.add(tensor, nullptr, "file");
  converted.discard(std::as_bytes(std::span(from)));
  EXPECT_EQ(numerics::to_float(values[0]), 1.5f);
  converted.discard(std::as_bytes(std::span(values, from.size())));
  EXPECT_EQ(numerics::to_float(values[0]), 0);
}

}  // namespace
}  // namespace engine::model
