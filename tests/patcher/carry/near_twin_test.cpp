#include "patcher/carry/near_twin.h"

#include <gtest/gtest.h>

#include "patcher/carry/carry_file.h"

namespace patcher {
namespace {

constexpr const char* kFourCalls = "  a(1, 2);\n  b(3, 4);\n  c(5, 6);\n  d(7, 8);\n";
constexpr const char* kNotedCalls = "  a(1, 2);\n  b(3, 4);\n  c(5, 6);\n  note(x);\n  d(7, 8);\n";

std::string one_function(const std::string& lines) {
  return "int f(int x) {\n" + lines + "  return x;\n}\n";
}

CarriedFile carried_to(const std::string& before, const std::string& after,
                       const std::string& target) {
  const Source base("a.cpp", one_function(before));
  const Source there("a.cpp", target);
  return carry_file(base, one_function(after), there);
}

// Upstream has put the same statement a few lines away: both would stand there.
TEST(NearTwin, IsRefused) {
  const CarriedFile made =
      carried_to(kFourCalls, kNotedCalls, one_function("  note(x);\n" + std::string(kFourCalls)));
  ASSERT_TRUE(made.failure.has_value());
  EXPECT_EQ(made.failure->verdict, Verdict::kOutdated);
  EXPECT_TRUE(made.failure->message.starts_with("collision: the tree has the added lines"))
      << made.failure->message;
}

TEST(NearTwin, IsNoneWhereTheBaseHasItToo) {
  const std::string first = "  note(x);\n";
  const CarriedFile made = carried_to(first + kFourCalls, first + kNotedCalls,
                                      "int z;\n" + one_function(first + kFourCalls));
  EXPECT_EQ(made.bytes, "int z;\n" + one_function(first + kNotedCalls));
}

TEST(NearTwin, IsNoneInAnotherFunction) {
  const std::string other = "int g(int x) {\n  note(x);\n  return x;\n}\n\n";
  EXPECT_EQ(carried_to(kFourCalls, kNotedCalls, other + one_function(kFourCalls)).bytes,
            other + one_function(kNotedCalls));
}

}  // namespace
}  // namespace patcher
