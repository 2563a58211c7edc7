// What the tests of the operations share: every available backend, and host arrays on it.
#pragma once

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "kernels/ops.h"

namespace engine::kernels {

// A backend as a test parameter: the CPU's once for each instruction set.
struct Variant {
  std::string backend;
  std::int64_t target = 0;  // of Highway; 0: the best there is

  std::string name() const {
    return target == 0 ? backend : backend + "_" + hwy::TargetName(target);
  }
};

inline bool has_cuda() {
  try {
    return make_backend("cuda", {}) != nullptr;
  } catch (const BackendError&) {
    return false;
  }
}

inline std::vector<Variant> available_variants() {
  std::vector<Variant> variants;
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    variants.push_back({"cpu", target});
  }
  if (has_cuda()) variants.push_back({"cuda"});
  return variants;
}

// Base of every test that runs on each backend.
class EachBackend : public testing::TestWithParam<Variant> {
 protected:
  EachBackend() { hwy::SetSupportedTargetsForTest(GetParam().target); }
  ~EachBackend() override { hwy::SetSupportedTargetsForTest(0); }

  std::unique_ptr<Backend> make(BackendOptions options) {
    return make_backend(GetParam().backend, options);
  }
  std::unique_ptr<Backend> backend = make({.threads = 2});
};

#define INSTANTIATE_FOR_EACH_BACKEND(suite)                                          \
  INSTANTIATE_TEST_SUITE_P(Backends, suite, testing::ValuesIn(available_variants()), \
                           [](const auto& test) { return test.param.name(); })

// An array in backend memory. Uploads and downloads whole.
template <typename T>
class Device {
 public:
  Device(Backend& backend, const std::vector<T>& host) : Device(backend, host.size()) {
    backend.upload(data(), host.data(), host.size() * sizeof(T));
  }
  Device(Backend& backend, std::size_t count)
      : backend_(backend), count_(count), buffer_(backend.allocate(count * sizeof(T))) {}

  T* data() { return reinterpret_cast<T*>(buffer_->data()); }
  std::vector<T> host() {
    std::vector<T> values(count_);
    backend_.download(values.data(), data(), count_ * sizeof(T));
    return values;
  }

 private:
  Backend& backend_;
  std::size_t count_;
  std::unique_ptr<Buffer> buffer_;
};

inline std::vector<float> normal_floats(std::size_t count, float deviation, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(0.0f, deviation);
  std::vector<float> values(count);
  for (float& value : values)
    value = normal(random);
  return values;
}

inline std::vector<bf16> normal_bf16s(std::size_t count, float deviation, unsigned seed) {
  std::vector<bf16> values;
  for (const float x : normal_floats(count, deviation, seed)) {
    values.push_back(numerics::from_float(x));
  }
  return values;
}

// Bitwise equality; the message names the first element that differs.
template <typename T>
testing::AssertionResult same_bits(const std::vector<T>& actual, const std::vector<T>& expected,
                                   std::size_t columns) {
  if (actual.size() != expected.size()) return testing::AssertionFailure() << "sizes differ";
  for (std::size_t i = 0; i < actual.size(); ++i) {
    if (std::memcmp(&actual[i], &expected[i], sizeof(T)) == 0) continue;
    return testing::AssertionFailure()
           << "first difference in row " << i / columns << ", column " << i % columns;
  }
  return testing::AssertionSuccess();
}

}  // namespace engine::kernels
