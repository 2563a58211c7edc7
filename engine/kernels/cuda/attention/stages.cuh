// How prefill's blocks fetch keys and values: stages of 128 positions in shared memory, filled by a
// warpgroup of their own through the bulk copy engine, or row by row where not all of them are
// seen.
#pragma once

#include "kernels/cuda/attention/problem.cuh"
#include "kernels/cuda/device/instructions.cuh"

namespace engine::kernels::cuda {

inline constexpr unsigned kGroup = 128;             // threads of a warpgroup
inline constexpr unsigned kConsumers = 2 * kGroup;  // and after them the producer's
inline constexpr unsigned kThreads = kConsumers + kGroup;
inline constexpr unsigned kPairKeys = 2 * numerics::kTileKeys;
inline constexpr unsigned kStages = 3;
inline constexpr unsigned kBoxBytes =
    kPairKeys * 64 * sizeof(bf16);  // 64 dimensions of a pair's rows

inline constexpr unsigned kFillers = 1;  // the named barrier of the producer's threads

template <unsigned kHead>
struct Stages {
  static constexpr unsigned kBoxes = kHead / 64;
  static constexpr unsigned kBytes = kBoxes * kBoxBytes;  // keys or values of a stage
  static constexpr unsigned kSharedBytes = 1024 + 2 * kStages * kBytes + 4 * kStages * 8;

  std::byte* memory;            // keys and values of each stage
  std::uint64_t *full, *empty;  // of each stage's keys, then of its values

  __device__ explicit Stages(std::byte* shared)
      : memory(shared + (1024 - shared_address(shared) % 1024) % 1024),
        full(reinterpret_cast<std::uint64_t*>(memory + 2 * kStages * kBytes)),
        empty(full + 2 * kStages) {}

  __device__ void initialise() const {
    for (unsigned s = 0; s < 2 * kStages; ++s) {
      barrier_init(&full[s], 1);
      barrier_init(&empty[s], kConsumers / kWarp);
    }
    barrier_init_fence();
  }
  // `part`: 2 s for the keys of pair s, 2 s + 1 for its values.
  __device__ static unsigned place(unsigned part) { return part % (2 * kStages); }
  __device__ static unsigned phase(unsigned part) { return part / (2 * kStages) & 1; }
  __device__ std::byte* of(unsigned part) const { return memory + place(part) * kBytes; }
  __device__ void wait(unsigned part) const { barrier_wait(&full[place(part)], phase(part)); }
  __device__ void release(unsigned part) const {
    if (threadIdx.x % kWarp == 0) barrier_arrive(&empty[place(part)]);
  }
};

// Rows [first, + kPairKeys) that are not all visible or not neighbours: by ordinary copies, and
// what none of the block's queries sees becomes zero. Every thread of the producer calls it.
template <unsigned kHead>
__device__ void fill_by_rows(std::byte* to, const bf16* rows, const AttentionProblem& p,
                             unsigned kv_head, unsigned first, KeyRange keys) {
  constexpr unsigned kPieces = kHead / 8;  // of 16 bytes
#pragma unroll 4
  for (unsigned at = threadIdx.x % kGroup; at < kPairKeys * kPieces; at += kGroup) {
    const unsigned row = at / kPieces, piece = at % kPieces, key = first + row;
    const bool seen = key >= keys.begin && key < keys.end;
    const bf16* from = seen ? rows + key_offset(p, kv_head, key) + piece * 8 : rows;
    copy_16(shared_address(to) + piece / 8 * kBoxBytes + row * 128 + (piece ^ row) % 8 * 16, from,
            seen);
  }
  copy_commit();
  copy_wait<0>();
  async_proxy_fence();
}

template <unsigned kHead>
__device__ void produce(const Stages<kHead>& stages, const AttentionProblem& p,
                        const CUtensorMap* k, const CUtensorMap* v, KeyRange keys) {
  const bool leads = threadIdx.x == kConsumers;
  const unsigned kv_head = blockIdx.y;
  unsigned part = 0;
  for (unsigned first = keys.begin / kPairKeys * kPairKeys; first < keys.end; first += kPairKeys) {
    const unsigned slot = first < p.slots ? first : first % p.slots;
    const bool plain =
        first >= keys.begin && first + kPairKeys <= keys.end && slot + kPairKeys <= p.slots;
    for (unsigned side = 0; side < 2; ++side, ++part) {
      std::uint64_t* full = &stages.full[stages.place(part)];
      if (leads && part >= 2 * kStages)
        barrier_wait(&stages.empty[stages.place(part)], stages.phase(part) ^ 1);
      if (!plain) {
        named_sync(kFillers, kGroup);
        fill_by_rows<kHead>(stages.of(part), side == 0 ? p.k : p.v, p, kv_head, first, keys);
        named_sync(kFillers, kGroup);
        if (leads) barrier_arrive(full);
      } else if (leads) {
        barrier_arrive_expecting(full, Stages<kHead>::kBytes);
        for (unsigned b = 0; b < Stages<kHead>::kBoxes; ++b) {
          copy_box(stages.of(part) + b * kBoxBytes, side == 0 ? k : v, kv_head * kHead + b * 64,
                   slot, full);
        }
      }
    }
  }
}

}  // namespace engine::kernels::cuda
