#include "cli/kv_diff.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/test_network.h"

namespace engine::cli {
namespace {

using runtime::testing::random_tokens;
using runtime::testing::request_of;
using runtime::testing::SmallEngine;

TEST(CompareRows, EqualRunsAreEqual) {
  runtime::Engine a = SmallEngine{}.make(), b = SmallEngine{}.make();
  (void)a.run(request_of(random_tokens(100, 1), 1));
  (void)b.run(request_of(random_tokens(100, 1), 1));
  const KvComparison comparison = compare_rows(a, b, 100);
  EXPECT_FALSE(comparison.first.has_value());
  EXPECT_EQ(comparison.differing(), 0u);
  EXPECT_EQ(comparison.differs.size(), 100 * comparison.layers);
}

TEST(CompareRows, NamesTheFirstRowLayerAndWriters) {
  runtime::Engine a = SmallEngine{}.make(), b = SmallEngine{.prompt_rows = 50}.make();
  (void)a.run(request_of(random_tokens(100, 1), 1));
  (void)b.run(request_of(random_tokens(100, 1), 1));
  b.state().poison_rows(60, 61, runtime::testing::kNaN);
  KvComparison comparison = compare_rows(a, b, 100);
  ASSERT_TRUE(comparison.first.has_value());
  EXPECT_LE(comparison.first->position, 60u);
  EXPECT_TRUE(comparison.differs[60 * comparison.layers]);
  EXPECT_THAT(describe(comparison.first->left), ::testing::HasSubstr("prefill, launch of rows ["));
  EXPECT_EQ(describe(runtime::RowOrigin{}), "nobody");
}

TEST(Picture, FoldsRowsIntoColumns) {
  KvComparison comparison{.rows = 8, .layers = 2, .differs = std::vector<bool>(16), .first = {}};
  comparison.differs[5 * 2 + 1] = true;  // row 5, layer 1
  EXPECT_EQ(picture(comparison, 4), "layer   0 ....\nlayer   1 ..#.\n");
}

}  // namespace
}  // namespace engine::cli
