#include "kernels/cpu/matmul.h"

#include <algorithm>
#include <vector>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/matmul.cpp"
#include <hwy/foreach_target.h>  // must precede highway.h

#include "kernels/cpu/fused16-inl.h"

HWY_BEFORE_NAMESPACE();
namespace engine::kernels::cpu {
namespace HWY_NAMESPACE {

constexpr std::size_t kRowBlock = 64;  // rows that reuse a decoded group from the first-level cache

struct Tile {
  alignas(64) float part[kRowBlock][kPanel];
  alignas(64) float sum[kRowBlock][kPanel];
};

// [K/16, R], so that a group's rows lie side by side.
std::vector<DecodedRow> decode_rows(const MatmulArgs& args, Threads& threads) {
  const std::size_t groups = args.w.inner() / kGroup;
  std::vector<DecodedRow> decoded(groups * args.rows);
  threads.for_range(args.rows, args.w.inner(), [&](std::size_t r, std::size_t end) {
    for (; r < end; ++r) {
      for (std::size_t g = 0; g < groups; ++g) {
        decode_row(decoded[g * args.rows + r], args.x + (r * groups + g) * kGroup);
      }
    }
  });
  return decoded;
}

// tile.part = the chains of `count` rows over one slice. x [groups, rows], panel [16 groups, 32].
HWY_NOINLINE void multiply_slice(Tile& tile, const DecodedRow* x, std::size_t rows,
                                 const bf16* panel, std::size_t groups, std::size_t count) {
  const TowardZero rounding;
  DecodedGroup group;
  std::fill_n(&tile.part[0][0], count * kPanel, 0.0f);
  for (std::size_t g = 0; g < groups; ++g) {
    decode_group(group, panel + g * kGroup * kPanel, kPanel);
    fused16_rows(&tile.part[0][0], kPanel, x + g * rows, count, group);
  }
}

// Adds all slices of rows [row, row + count) and one panel into tile.sum.
void multiply(Tile& tile, const MatmulArgs& args, const DecodedRow* x, const bf16* panel,
              std::size_t row, std::size_t count) {
  const std::size_t groups = args.w.inner() / args.split / kGroup;
  for (std::size_t s = 0; s < args.split; ++s) {
    multiply_slice(tile, x + s * groups * args.rows + row, args.rows,
                   panel + s * groups * kGroup * kPanel, groups, count);
    for (std::size_t i = 0; i < count * kPanel; ++i) {
      float& sum = (&tile.sum[0][0])[i];
      const float part = (&tile.part[0][0])[i];
      sum = s == 0 ? part : sum + part;
    }
  }
}

void store(const Tile& tile, const MatmulArgs& args, std::size_t first, std::size_t row,
           std::size_t count) {
  const std::size_t outputs = args.w.outputs();
  const std::size_t columns = std::min(kPanel, outputs - first);
  for (std::size_t r = 0; r < count; ++r) {
    float* out = args.out + (row + r) * outputs + first;
    for (std::size_t n = 0; n < columns; ++n) {
      float sum = tile.sum[r][n];
      if (args.bias != nullptr) sum += numerics::to_float(args.bias[first + n]);
      out[n] = args.accumulate ? sum + out[n] : sum;
    }
  }
}

void matmul_target(const MatmulArgs& args, Threads& threads) {
  const std::vector<DecodedRow> x = decode_rows(args, threads);
  const std::size_t blocks = (args.rows + kRowBlock - 1) / kRowBlock;
  const std::size_t cost = std::min(args.rows, kRowBlock) * kPanel * args.w.inner() / 8;
  threads.for_range(args.w.panels() * blocks, cost, [&](std::size_t begin, std::size_t end) {
    Tile tile;
    for (std::size_t i = begin; i < end; ++i) {
      const std::size_t panel = i / blocks, row = i % blocks * kRowBlock;
      const std::size_t count = std::min(kRowBlock, args.rows - row);
      multiply(tile, args, x.data(), args.w.panel(panel), row, count);
      store(tile, args, panel * kPanel, row, count);
    }
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace engine::kernels::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace engine::kernels::cpu {

HWY_EXPORT(matmul_target);

void matmul(const MatmulArgs& args, Threads& threads) {
  HWY_DYNAMIC_DISPATCH(matmul_target)(args, threads);
}

}  // namespace engine::kernels::cpu
#endif  // HWY_ONCE
