#include "kernels/cuda/device/instructions.cuh"
#include "kernels/cuda/index/index.h"
#include "numerics/index.h"

namespace engine::kernels::cuda {
namespace {

// ---- Kernels
//
// A cluster of blocks takes a row, each warp a run of neighbouring positions. The threshold, the
// key of the last score that is in, is found a digit at a time from the top, by how many scores
// have each digit; then every warp counts what it takes, and writes it behind what those before it
// took.

constexpr unsigned kWarps = 16;
constexpr unsigned kThreads = kWarps * kWarp;
constexpr unsigned kDigitBits = 8;
constexpr unsigned kDigits = 1 << kDigitBits;

struct Problem {
  IndexProblem index;
  unsigned cluster;  // blocks of a row
};

struct Run {
  const float* scores;
  unsigned begin, end;
};

struct Counts {
  unsigned above, equal;  // scores of a warp's run, against the threshold
};

struct Digit {
  unsigned value;
  unsigned needed;  // of the scores that have it
};

struct Shared {
  unsigned histogram[kDigits];  // of this block's scores
  unsigned totals[kDigits];     // of the cluster's
  Counts counts[kWarps];
  Digit found;
};

__device__ unsigned load_count(const unsigned* count, unsigned block) {
  return __float_as_uint(load_from_block(shared_address(count), block));
}

// take(position, key) for 32 neighbouring positions at once; key 0 where the run has ended.
template <typename Take>
__device__ void for_keys(const Run& run, Take&& take) {
  constexpr unsigned kBatch = 8;
  for (unsigned base = run.begin; base < run.end; base += kBatch * kWarp) {
    std::uint32_t keys[kBatch];
#pragma unroll
    for (unsigned j = 0; j < kBatch; ++j) {
      const unsigned i = base + j * kWarp + threadIdx.x % kWarp;
      keys[j] = i < run.end ? numerics::index_key(run.scores[i]) : 0;
    }
#pragma unroll
    for (unsigned j = 0; j < kBatch; ++j)
      take(base + j * kWarp + threadIdx.x % kWarp, keys[j]);
  }
}

// Counts the digit at `shift` of the keys whose higher digits are those of `prefix`.
__device__ void count_digits(Shared& shared, const Run& run, std::uint32_t prefix,
                             std::uint32_t mask, unsigned shift) {
  for_keys(run, [&](unsigned, std::uint32_t key) {
    const bool counts = key != 0 && (key & mask) == prefix;
    const unsigned digit = key >> shift & (kDigits - 1);
    if (counts) atomicAdd(&shared.histogram[digit], 1u);
  });
}

// The inclusive sum over the lanes up to this one.
__device__ unsigned sum_through(unsigned own) {
  const unsigned lane = threadIdx.x % kWarp;
  for (unsigned distance = 1; distance < kWarp; distance *= 2) {
    const unsigned lower = __shfl_up_sync(~0u, own, distance);
    own += lane >= distance ? lower : 0;
  }
  return own;
}

// The digit of the `needed`th largest score. One warp calls it, a lane for eight digits.
__device__ void find_digit(Shared& shared, unsigned needed) {
  constexpr unsigned kOwn = kDigits / kWarp;
  const unsigned highest = kDigits - 1 - threadIdx.x % kWarp * kOwn;
  unsigned own = 0;
  for (unsigned i = 0; i < kOwn; ++i)
    own += shared.totals[highest - i];
  unsigned before = sum_through(own) - own;
  if (before >= needed || before + own < needed) return;
  unsigned digit = highest;
  for (; before + shared.totals[digit] < needed; --digit)
    before += shared.totals[digit];
  shared.found = {digit, needed - before};
}

// The threshold, and how many of the scores that equal it are in.
__device__ Digit find_threshold(Shared& shared, const Run& run, unsigned most, unsigned cluster) {
  Digit threshold{0, most};
  std::uint32_t mask = 0;
  for (unsigned shift = 32 - kDigitBits;; shift -= kDigitBits) {
    if (threadIdx.x < kDigits) shared.histogram[threadIdx.x] = 0;
    __syncthreads();
    count_digits(shared, run, threshold.value, mask, shift);
    cluster_sync();
    if (threadIdx.x < kDigits) {
      unsigned total = 0;
      for (unsigned block = 0; block < cluster; ++block)
        total += load_count(&shared.histogram[threadIdx.x], block);
      shared.totals[threadIdx.x] = total;
    }
    cluster_sync();
    if (threadIdx.x < kWarp) find_digit(shared, threshold.needed);
    __syncthreads();
    threshold.value |= shared.found.value << shift;
    threshold.needed = shared.found.needed;
    mask |= (kDigits - 1) << shift;
    if (shift == 0) return threshold;
  }
}

// What the warps before this one of the cluster found.
__device__ Counts counts_before(const Shared& shared) {
  const unsigned own = cluster_rank() * kWarps + threadIdx.x / kWarp;
  Counts before{0, 0};
  for (unsigned w = threadIdx.x % kWarp; w < own; w += kWarp) {
    before.above += load_count(&shared.counts[w % kWarps].above, w / kWarps);
    before.equal += load_count(&shared.counts[w % kWarps].equal, w / kWarps);
  }
  return {__reduce_add_sync(~0u, before.above), __reduce_add_sync(~0u, before.equal)};
}

__device__ void write_set(std::int32_t* chosen, Shared& shared, const Run& run, Digit threshold) {
  Counts counts{0, 0};
  for_keys(run, [&](unsigned, std::uint32_t key) {
    counts.above += __popc(__ballot_sync(~0u, key > threshold.value));
    counts.equal += __popc(__ballot_sync(~0u, key == threshold.value));
  });
  if (threadIdx.x % kWarp == 0) shared.counts[threadIdx.x / kWarp] = counts;
  cluster_sync();
  Counts before = counts_before(shared);
  const unsigned lower = (1u << threadIdx.x % kWarp) - 1;
  for_keys(run, [&](unsigned position, std::uint32_t key) {
    const unsigned above = __ballot_sync(~0u, key > threshold.value);
    const unsigned equal = __ballot_sync(~0u, key == threshold.value);
    const unsigned equals = before.equal + __popc(equal & lower);
    const bool in = key > threshold.value || (key == threshold.value && equals < threshold.needed);
    const unsigned at = before.above + __popc(above & lower) + min(equals, threshold.needed);
    if (in) chosen[at] = static_cast<std::int32_t>(position);
    before.above += __popc(above);
    before.equal += __popc(equal);
  });
  cluster_sync();  // no block may end while another reads its memory
}

__global__ void __launch_bounds__(kThreads) choose_kernel(const Problem launched) {
  __shared__ Shared shared;
  const IndexProblem& p = launched.index;
  const unsigned row = blockIdx.x / launched.cluster, rank = blockIdx.x % launched.cluster;
  const unsigned count = static_cast<unsigned>(advanced(p.position, p.advance)) + row + 1;
  std::int32_t* chosen = p.chosen + std::size_t{row} * p.most;
  let_next_begin();
  wait_for_previous();
  if (count <= p.most) {
    for (unsigned i = rank * kThreads + threadIdx.x; i < count; i += launched.cluster * kThreads)
      chosen[i] = static_cast<std::int32_t>(i);
    return;  // so does the whole cluster
  }
  const unsigned warps = launched.cluster * kWarps;
  const unsigned share = (count + warps * kWarp - 1) / (warps * kWarp) * kWarp;
  const unsigned begin = min((rank * kWarps + threadIdx.x / kWarp) * share, count);
  const Run run{p.scores + std::size_t{row} * p.slots, begin, min(begin + share, count)};
  const Digit threshold = find_threshold(shared, run, p.most, launched.cluster);
  write_set(chosen, shared, run, threshold);
}

}  // namespace

// ---- Launchers

void index_choose(const IndexProblem& problem, cudaStream_t stream) {
  // Blocks for the whole chip, and no more than a row has work for.
  const unsigned cluster = problem.rows <= 16 ? 8 : problem.rows <= 64 ? 2 : 1;
  launch(stream, {.grid = dim3(problem.rows * cluster), .threads = kThreads, .cluster = cluster},
         choose_kernel, Problem{problem, cluster});
}

}  // namespace engine::kernels::cuda
