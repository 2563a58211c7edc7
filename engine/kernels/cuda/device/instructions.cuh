// The instructions of sm_90 that C++ has no words for. PTX ISA names stand beside each.
#pragma once

#include <cuda.h>
#include <cuda_bf16.h>

#include <cstdint>

#include "numerics/bf16.h"

namespace engine::kernels::cuda {

using numerics::bf16;

inline constexpr unsigned kWarp = 32;

// griddepcontrol.wait: the kernels before this one in the stream have ended, their writes are seen.
__device__ inline void wait_for_previous() {
  asm volatile("griddepcontrol.wait;" ::: "memory");
}
// griddepcontrol.launch_dependents: the next kernel may begin once every block has said so.
__device__ inline void let_next_begin() {
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
}

__device__ inline std::uint32_t shared_address(const void* pointer) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(pointer));
}

// A position of a recorded launch, moved on by what this repetition is ahead of the record: see
// graph.h.
__device__ inline std::size_t advanced(std::size_t position, const int* advance) {
  return advance == nullptr ? position : position + static_cast<std::size_t>(*advance);
}

// Round to nearest even, as numerics::from_float, in one instruction.
__device__ inline bf16 round_bf16(float x) {
  return {__bfloat16_as_ushort(__float2bfloat16_rn(x))};
}
// `low` in the lower half.
__device__ inline std::uint32_t round_bf16x2(float low, float high) {
  const __nv_bfloat162 pair = __floats2bfloat162_rn(low, high);
  return reinterpret_cast<const std::uint32_t&>(pair);
}

// ---- mbarrier: counts arrivals and the bytes of bulk copies; phases alternate 0, 1, 0, ...

__device__ inline void barrier_init(std::uint64_t* barrier, std::uint32_t arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)),
               "r"(arrivals)
               : "memory");
}
// Makes initialised barriers known to the copy engine and the other blocks of the cluster.
__device__ inline void barrier_init_fence() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
__device__ inline void barrier_arrive(std::uint64_t* barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(barrier))
               : "memory");
}
__device__ inline void barrier_arrive_expecting(std::uint64_t* barrier, std::uint32_t bytes) {
  asm volatile(
      "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)),
      "r"(bytes)
      : "memory");
}
// Nanoseconds that a thread may sleep at a barrier before it looks again: it takes no issue slots.
inline constexpr std::uint32_t kLongestWait = 10'000'000;

__device__ inline void barrier_wait(std::uint64_t* barrier, std::uint32_t phase) {
  asm volatile(
      "{\n"
      ".reg .pred done;\n"
      "again:\n"
      "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1, %2;\n"
      "@!done bra again;\n"
      "}\n" ::"r"(shared_address(barrier)),
      "r"(phase), "r"(kLongestWait)
      : "memory");
}

// ---- The bulk copy engine

__device__ inline void prefetch_map(const CUtensorMap* map) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory");
}
// Copies the box at (row, column) of a tile_map into shared memory; completes on `barrier`.
__device__ inline void copy_box(void* to, const CUtensorMap* map, std::uint32_t column,
                                std::uint32_t row, std::uint64_t* barrier) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes "
      "[%0], [%1, {%2, %3}], [%4];" ::"r"(shared_address(to)),
      "l"(map), "r"(column), "r"(row), "r"(shared_address(barrier))
      : "memory");
}

// The same into every block of the cluster whose bit `blocks` has, at the address that `to` and
// `barrier` have here.
__device__ inline void copy_box_to(std::uint16_t blocks, void* to, const CUtensorMap* map,
                                   std::uint32_t column, std::uint32_t row,
                                   std::uint64_t* barrier) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes"
      ".multicast::cluster [%0], [%1, {%2, %3}], [%4], %5;" ::"r"(shared_address(to)),
      "l"(map), "r"(column), "r"(row), "r"(shared_address(barrier)), "h"(blocks)
      : "memory");
}

// Copies a box of shared memory out, clipped to the matrix. The copies of a thread end in groups.
__device__ inline void store_box(const CUtensorMap* map, const void* from, std::uint32_t column,
                                 std::uint32_t row) {
  asm volatile(
      "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];" ::"l"(map),
      "r"(column), "r"(row), "r"(shared_address(from))
      : "memory");
}
__device__ inline void store_box_commit() {
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}
// All but the last kPending groups have left shared memory.
template <int kPending>
__device__ inline void store_box_wait() {
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(kPending) : "memory");
}
// Asks for a box in the second level cache.
__device__ inline void prefetch_box(const CUtensorMap* map, std::uint32_t column,
                                    std::uint32_t row) {
  asm volatile("cp.async.bulk.prefetch.tensor.2d.L2.global [%0, {%1, %2}];" ::"l"(map), "r"(column),
               "r"(row)
               : "memory");
}

// ---- cp.async: 16 bytes, or 16 zero bytes without reading

__device__ inline void copy_16(std::uint32_t to_shared, const void* from, bool valid) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to_shared), "l"(from),
               "r"(valid ? 16 : 0)
               : "memory");
}
// The same through the first level cache, for what other warps of the block read as well.
__device__ inline void copy_16_near(std::uint32_t to_shared, const void* from, bool valid) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 16, %2;" ::"r"(to_shared), "l"(from),
               "r"(valid ? 16 : 0)
               : "memory");
}
__device__ inline void copy_commit() {
  asm volatile("cp.async.commit_group;" ::: "memory");
}
template <int kPending>
__device__ inline void copy_wait() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kPending) : "memory");
}
// Shared memory written by ordinary or cp.async stores becomes visible to wgmma.
__device__ inline void async_proxy_fence() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

// ---- Clusters

__device__ inline std::uint32_t cluster_rank() {
  std::uint32_t rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}
__device__ inline void cluster_sync() {
  asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::
                   : "memory");
}
// A float of another block's shared memory, at the address it has there.
__device__ inline float load_from_block(std::uint32_t address, std::uint32_t rank) {
  std::uint32_t remote;
  float value;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(remote) : "r"(address), "r"(rank));
  asm volatile("ld.shared::cluster.f32 %0, [%1];" : "=f"(value) : "r"(remote));
  return value;
}

// Arrives at the barrier that another block has at this address.
__device__ inline void barrier_arrive_at_block(std::uint64_t* barrier, std::uint32_t rank) {
  asm volatile(
      "{\n"
      ".reg .b32 remote;\n"
      "mapa.shared::cluster.u32 remote, %0, %1;\n"
      "mbarrier.arrive.shared::cluster.b64 _, [remote];\n"
      "}\n" ::"r"(shared_address(barrier)),
      "r"(rank)
      : "memory");
}
__device__ inline void store_to_block(std::uint32_t address, std::uint32_t rank,
                                      const float4& value) {
  asm volatile(
      "{\n"
      ".reg .b32 remote;\n"
      "mapa.shared::cluster.u32 remote, %0, %1;\n"
      "st.shared::cluster.v4.f32 [remote], {%2, %3, %4, %5};\n"
      "}\n" ::"r"(address),
      "r"(rank), "f"(value.x), "f"(value.y), "f"(value.z), "f"(value.w)
      : "memory");
}

// ---- Warpgroups: each calls these with all of its warps

// setmaxnreg: what one warpgroup gives up, another may take.
template <int kCount>
__device__ inline void give_up_registers() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(kCount));
}
template <int kCount>
__device__ inline void take_registers() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(kCount));
}
// Barrier `id` (1 to 15) of `threads` threads.
__device__ inline void named_sync(unsigned id, unsigned threads) {
  asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

// ---- mma.sync m16n8k16, bf16 in, float32 accumulated: one fused16 for each output

__device__ inline void load_matrix_x4(std::uint32_t (&r)[4], std::uint32_t address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(address)
               : "memory");
}
__device__ inline void load_matrix_x4_transposed(std::uint32_t (&r)[4], std::uint32_t address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(address)
               : "memory");
}
__device__ inline void store_matrix_x4(std::uint32_t address, const std::uint32_t (&r)[4]) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(address),
               "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3])
               : "memory");
}
__device__ inline void multiply_16x8x16(float* c, const std::uint32_t* a, std::uint32_t b0,
                                        std::uint32_t b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

}  // namespace engine::kernels::cuda
