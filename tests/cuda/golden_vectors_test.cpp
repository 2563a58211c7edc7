// The matrix unit of the device at hand against what an H200 returned.
#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <fstream>
#include <iterator>

#include "kernels/cuda/backend.h"
#include "kernels/cuda/device/self_check.h"

namespace engine::kernels::cuda {
namespace {

std::vector<GoldenVector> recorded_vectors() {
  std::ifstream file(TEST_DATA_DIR "/mma_bf16_h200.bin", std::ios::binary);
  const std::vector<char> bytes(std::istreambuf_iterator<char>(file), {});
  std::vector<GoldenVector> vectors(bytes.size() / sizeof(GoldenVector));
  std::memcpy(vectors.data(), bytes.data(), vectors.size() * sizeof(GoldenVector));
  return vectors;
}

bool same(const GoldenVector& a, const GoldenVector& b) {
  return std::memcmp(&a, &b, sizeof a) == 0;
}

TEST(GoldenVectors, TheEmbeddedOnesAreRecordedOnes) {
  const std::vector<GoldenVector> recorded = recorded_vectors();
  ASSERT_EQ(recorded.size(), 9216u);
  ASSERT_EQ(golden_vectors().size(), 128u);
  for (std::size_t i = 0; i < golden_vectors().size(); ++i)
    EXPECT_TRUE(same(golden_vectors()[i], recorded[72 * i])) << "vector " << i;
}

TEST(GoldenVectors, TheDeviceReturnsEveryRecordedResult) {
  if (!device_present()) GTEST_SKIP() << "no CUDA device of compute capability 9.0 here";
  const std::vector<GoldenVector> recorded = recorded_vectors();
  const std::vector<float> results = multiply_on_device(recorded, nullptr);
  std::size_t different = 0;
  for (std::size_t i = 0; i < recorded.size(); ++i) {
    different +=
        std::bit_cast<std::uint32_t>(results[i]) != std::bit_cast<std::uint32_t>(recorded[i].d);
  }
  EXPECT_EQ(different, 0u) << "of " << recorded.size();
}

}  // namespace
}  // namespace engine::kernels::cuda
