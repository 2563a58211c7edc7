#include "cli/kv_diff.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/poison.h"
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
  runtime::testing::poison_rows(b, 60, 61);
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

// Rows 0 to 3 in one prefill launch on both sides; then two decode launches against one prefill.
TEST(AnnotatedPicture, ShowsRowNumbersAndWhoWroteTheRows) {
  using runtime::RowOrigin;
  using runtime::Writer;
  KvComparison comparison{.rows = 8, .layers = 1, .differs = std::vector<bool>(8), .first = {}};
  comparison.differs[6] = true;
  for (std::uint32_t row = 0; row < 8; ++row) {
    const RowOrigin first{Writer::kPrefill, 0, 4};
    comparison.left.push_back(row < 4 ? first : RowOrigin{Writer::kDecode, row / 2 * 2, 2});
    comparison.right.push_back(row < 4 ? first : RowOrigin{Writer::kPrefill, 4, 4});
  }
  comparison.right.back() = {};
  EXPECT_EQ(annotated_picture(comparison, 8, "turn 1+2", "alone"),
            "row       0\n"
            "turn 1+2  PpppDdDd\n"
            "alone     PpppPpp-\n"
            "layer   0 ......#.\n"
            "          # differs  . equal  p prefill  d decode  PD a launch begins\n");
}

TEST(AnnotatedPicture, NumbersTheFirstRowOfAColumn) {
  KvComparison comparison{.rows = 100, .layers = 1, .differs = std::vector<bool>(100), .first = {}};
  comparison.left.resize(100), comparison.right.resize(100);
  const std::string text = annotated_picture(comparison, 40, "a", "b");
  EXPECT_THAT(text, ::testing::StartsWith("row       0               40              80\n"));
  EXPECT_THAT(text, ::testing::HasSubstr("(up to 3 rows a column)"));
}

}  // namespace
}  // namespace engine::cli
