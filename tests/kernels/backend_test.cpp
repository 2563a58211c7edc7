// Names of backends, and their memory.
#include <gmock/gmock.h>

#include <limits>

#include "backends.h"

namespace engine::kernels {
namespace {

using testing::HasSubstr;

TEST(MakeBackend, UnknownNameSaysTheKnownOnes) {
  try {
    make_backend("tpu", {});
    FAIL();
  } catch (const BackendError& error) {
    EXPECT_THAT(error.what(), HasSubstr("tpu"));
    EXPECT_THAT(error.what(), HasSubstr("cuda"));
  }
}

TEST(MakeBackend, CudaIsNeverReplacedSilently) {
  if (has_cuda()) GTEST_SKIP() << "this machine has a device";
  try {
    make_backend("cuda", {});
    FAIL();
  } catch (const BackendError& error) {
    EXPECT_THAT(error.what(), HasSubstr("cuda"));
  }
}

TEST(MakeBackend, AutoTakesTheBestThere) {
  EXPECT_EQ(make_backend("auto", {})->name(), has_cuda() ? "cuda" : "cpu");
}

class Memory : public EachBackend {};

TEST_P(Memory, NameAndDevice) {
  EXPECT_EQ(backend->name(), GetParam().backend);
  EXPECT_FALSE(backend->device().empty());
}

TEST_P(Memory, StartsAtZeroAndCopies) {
  Device<float> a(*backend, 1000);
  EXPECT_EQ(a.host(), std::vector<float>(1000, 0.0f));
  const auto values = normal_floats(1000, 1.0f, 1);
  Device<float> b(*backend, values);
  backend->copy(a.data() + 10, b.data(), 500 * sizeof(float));
  backend->synchronize();
  auto expected = std::vector<float>(1000, 0.0f);
  std::copy_n(values.begin(), 500, expected.begin() + 10);
  EXPECT_EQ(a.host(), expected);
}

TEST_P(Memory, OutOfMemorySaysHowMuchWasAsked) {
  const std::size_t bytes = std::numeric_limits<std::size_t>::max() / 4;
  try {
    backend->allocate(bytes);
    FAIL();
  } catch (const BackendError& error) {
    EXPECT_THAT(error.what(), HasSubstr(std::to_string(bytes)));
  }
}

INSTANTIATE_FOR_EACH_BACKEND(Memory);

}  // namespace
}  // namespace engine::kernels
