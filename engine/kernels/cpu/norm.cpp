#include "kernels/cpu/norm.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/norm.cpp"
#include <hwy/foreach_target.h>  // must precede highway.h
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace engine::kernels::cpu {
namespace HWY_NAMESPACE {

using numerics::kReduceLanes;
using numerics::NormKind;
using numerics::RowStatistics;

// Adds up a row by `take(x[i], lane)`, the lanes side by side, which the compiler turns into
// vectors.
template <typename Take>
float lane_sum(const float* x, std::size_t n, Take&& take) {
  float lanes[kReduceLanes] = {};
  std::size_t i = 0;
  for (; i + kReduceLanes <= n; i += kReduceLanes) {
    for (int l = 0; l < kReduceLanes; ++l)
      lanes[l] = take(x[i + l], lanes[l]);
  }
  for (int l = 0; i + l < n; ++l)
    lanes[l] = take(x[i + l], lanes[l]);
  return numerics::xor_tree(lanes, kReduceLanes);
}

// The bits of numerics::row_statistics.
template <NormKind kKind>
RowStatistics statistics(const float* x, std::size_t n, float epsilon) {
  if constexpr (kKind == NormKind::kNone) return {0.0f, 1.0f};
  float mean = 0.0f, squares;
  if constexpr (kKind == NormKind::kLayer) {
    mean =
        lane_sum(x, n, [](float value, float sum) { return sum + value; }) / static_cast<float>(n);
    squares = lane_sum(x, n, [mean](float value, float sum) {
      return numerics::fma(value - mean, value - mean, sum);
    });
  } else {
    squares =
        lane_sum(x, n, [](float value, float sum) { return numerics::fma(value, value, sum); });
  }
  return {mean, numerics::rms_scale(squares, n, epsilon)};
}

// Calls store(i, normed x[i]) for the whole row.
template <NormKind kKind, typename Store>
void norm_row(const float* HWY_RESTRICT x, const Norm& norm, std::size_t n, Store&& store) {
  const RowStatistics row = statistics<kKind>(x, n, norm.epsilon);
  for (std::size_t i = 0; i < n; ++i) {
    const bf16 weight = kKind == NormKind::kNone ? bf16{} : norm.weight[i];
    const bf16 bias = kKind == NormKind::kLayer ? norm.bias[i] : bf16{};
    store(i, numerics::norm_apply<kKind>(x[i], row, weight, bias));
  }
}

template <NormKind kKind>
void norm_kind(const NormArgs& args, std::size_t row) {
  bf16* HWY_RESTRICT out = args.out + row * args.out_stride;
  norm_row<kKind>(args.x + row * args.hidden, args.norm, args.hidden,
                  [&](std::size_t i, float value) { out[i] = numerics::from_float(value); });
}

template <NormKind kKind>
void add_kind(const AddArgs& args, std::size_t row) {
  float* HWY_RESTRICT x = args.x + row * args.hidden;
  norm_row<kKind>(
      args.branch + row * args.hidden, args.norm, args.hidden,
      [&](std::size_t i, float value) { x[i] = numerics::fma(value, args.scale, x[i]); });
}

void norm_any(const NormArgs& args, std::size_t row) {
  switch (args.norm.kind) {
    case NormKind::kNone:
      return norm_kind<NormKind::kNone>(args, row);
    case NormKind::kRms:
      return norm_kind<NormKind::kRms>(args, row);
    case NormKind::kRmsPlusOne:
      return norm_kind<NormKind::kRmsPlusOne>(args, row);
    case NormKind::kLayer:
      return norm_kind<NormKind::kLayer>(args, row);
  }
}

void add_any(const AddArgs& args, std::size_t row) {
  switch (args.norm.kind) {
    case NormKind::kNone:
      return add_kind<NormKind::kNone>(args, row);
    case NormKind::kRms:
      return add_kind<NormKind::kRms>(args, row);
    case NormKind::kRmsPlusOne:
      return add_kind<NormKind::kRmsPlusOne>(args, row);
    case NormKind::kLayer:
      return add_kind<NormKind::kLayer>(args, row);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace engine::kernels::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace engine::kernels::cpu {

HWY_EXPORT(norm_any);
HWY_EXPORT(add_any);

void norm(const NormArgs& args, Threads& threads) {
  threads.for_range(args.rows, args.hidden, [&](std::size_t begin, std::size_t end) {
    for (std::size_t r = begin; r < end; ++r)
      HWY_DYNAMIC_DISPATCH(norm_any)(args, r);
  });
}

void add(const AddArgs& args, Threads& threads) {
  threads.for_range(args.rows, args.hidden, [&](std::size_t begin, std::size_t end) {
    for (std::size_t r = begin; r < end; ++r)
      HWY_DYNAMIC_DISPATCH(add_any)(args, r);
  });
}

}  // namespace engine::kernels::cpu
#endif  // HWY_ONCE
