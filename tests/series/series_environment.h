// What the tests of the steps share: the series' environment, and two prompts of one text.
#pragma once

#include <cstdlib>
#include <vector>

#include "runtime/test_network.h"

namespace engine::runtime::testing {

inline constexpr std::size_t kGrid = 64;

// Sets or unsets the series' two variables for one test.
class Environment {
 public:
  Environment(const char* cache, const char* fixed_chunks) {
    set("TF_GLM53_PREFIX_CACHE", cache);
    set("TF_GLM53_FIXED_CHUNKS", fixed_chunks);
  }
  ~Environment() {
    set("TF_GLM53_PREFIX_CACHE", nullptr);
    set("TF_GLM53_FIXED_CHUNKS", nullptr);
  }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

 private:
  static void set(const char* variable, const char* value) {
    if (value == nullptr) {
      unsetenv(variable);
    } else {
      setenv(variable, value, 1);
    }
  }
};

inline std::vector<Token> joined(std::vector<Token> a, const std::vector<Token>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

}  // namespace engine::runtime::testing
