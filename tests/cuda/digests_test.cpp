// What one NVIDIA H200 printed for `engine digest --backend cuda` stands in digests/. The CPU
// backend must print the same, so a machine without a GPU checks the GPU's bits; a machine with one
// checks both. Each file is the output for `engine init-model --preset NAME --seed 1`, and
// reference.txt for the built-in model.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "case_name.h"
#include "cli/cli.h"
#include "kernels/ops.h"
#include "temp_folder.h"

namespace engine::cli {
namespace {

std::string run(const std::vector<const char*>& args) {
  std::istringstream in;
  std::ostringstream out, err;
  EXPECT_EQ(run_cli(args, {in, out, err, false}), kOk) << err.str();
  return out.str();
}

class Digests : public testing::TestWithParam<const char*> {
 protected:
  Digests() {
    if (is_built_in()) return;
    run({"engine", "init-model", "--preset", GetParam(), "--seed", "1", "--force", dir()});
  }

  static bool is_built_in() { return GetParam() == std::string_view("reference"); }
  const char* dir() const { return is_built_in() ? BUILT_IN_MODEL_DIR : folder_.path().c_str(); }
  static std::string known_answer() {
    std::ifstream file(std::string(DIGESTS_DIR) + "/" + GetParam() + ".txt");
    return {std::istreambuf_iterator<char>(file), {}};
  }
  std::string printed(const char* backend) {
    return run({"engine", "digest", "--model", dir(), "--backend", backend});
  }

 private:
  const TempFolder folder_;
};

TEST_P(Digests, TheCpuPrintsWhatAnH200Printed) {
  EXPECT_EQ(printed("cpu"), known_answer());
}

TEST_P(Digests, TheDevicePrintsWhatAnH200Printed) {
  try {
    kernels::make_backend("cuda", {});
  } catch (const kernels::BackendError& error) {
    GTEST_SKIP() << error.what();
  }
  EXPECT_EQ(printed("cuda"), known_answer());
}

INSTANTIATE_TEST_SUITE_P(Models, Digests,
                         testing::Values("micro", "plain", "mini", "reference", "mistral",
                                         "smollm3", "phi3", "qwen3", "olmo2", "granite", "gemma2",
                                         "gemma3", "glm4", "starcoder2", "glm4moe-mini",
                                         "glm5-mini", "qwen3-moe", "mixtral"),
                         [](const auto& test) { return case_word(test.param); });

}  // namespace
}  // namespace engine::cli
