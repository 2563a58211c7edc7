// wgmma m64nNk16, bf16 in, float32 accumulated: one fused16 for each output.
//
// Four consecutive warps multiply 64 rows of A with N columns of B. Accumulator registers of a
// thread: lane = 4 g + t of warp w holds, in registers 4 j + {0, 1, 2, 3}, the outputs
// (16 w + g, 8 j + 2 t), (same, + 1), (16 w + g + 8, 8 j + 2 t), (same, + 1).
// Source: PTX ISA, "Asynchronous warpgroup level matrix instructions".
#pragma once

#include <cstdint>

namespace engine::kernels::cuda {

// A tile in shared memory, its rows of 128 bytes swizzled as the copy engine's 128-byte mode does
// (16-byte piece c of row r stands at piece c ^ (r % 8)), base aligned to 1,024 bytes.
struct Descriptor {
  std::uint32_t low, high;

  __device__ Descriptor operator+(std::uint32_t offset) const { return {low + offset, high}; }
  __device__ std::uint64_t bits() const { return std::uint64_t{high} << 32 | low; }
};
// Inner dimension contiguous: rows of A or B, 64 inner elements each; rows 8 apart are 1,024 bytes
// apart. Add 2 for each further 16 inner elements.
__device__ inline Descriptor tile_descriptor(std::uint32_t shared) {
  return {(shared >> 4 & 0x3fff) | 1 << 16, 64 | 1 << 30};
}
// Outer dimension contiguous: 64 columns of B in each row of 128 bytes, one row for each inner
// element; columns 64 apart are `block_bytes` apart. Add 128 for each further 16 inner elements.
__device__ inline Descriptor transposed_descriptor(std::uint32_t shared,
                                                   std::uint32_t block_bytes) {
  return {(shared >> 4 & 0x3fff) | block_bytes >> 4 << 16, 64 | 1 << 30};
}

__device__ inline void wgmma_begin() {
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
__device__ inline void wgmma_commit() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
template <int kPending>
__device__ inline void wgmma_wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kPending) : "memory");
}
__device__ inline void pin_registers(std::uint32_t (&r)[4]) {
  asm volatile("" : "+r"(r[0]), "+r"(r[1]), "+r"(r[2]), "+r"(r[3])::"memory");
}
// Keeps the compiler from moving uses of accumulators across wgmma_begin and wgmma_wait.
template <int kCount>
__device__ inline void pin_registers(float (&c)[kCount]) {
#pragma unroll
  for (int i = 0; i < kCount; ++i)
    asm volatile("" : "+f"(c[i])::"memory");
}

// The assembler takes accumulators one by one: their places in the instruction, and the registers.
#define ENGINE_PLACES_4 "%0, %1, %2, %3"
#define ENGINE_PLACES_16 "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15"
#define ENGINE_PLACES_32 \
  ENGINE_PLACES_16       \
  ", %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
#define ENGINE_PLACES_64                                                               \
  ENGINE_PLACES_32                                                                     \
  ", %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, " \
  "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
#define ENGINE_PLACES_96                                                               \
  ENGINE_PLACES_64                                                                     \
  ", %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, " \
  "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95"
#define ENGINE_PLACES_128                                                                          \
  ENGINE_PLACES_96                                                                                 \
  ", %96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, " \
  "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127"
#define ENGINE_REGISTERS_4(c, i) "+f"(c[i]), "+f"(c[i + 1]), "+f"(c[i + 2]), "+f"(c[i + 3])
#define ENGINE_REGISTERS_16(c, i)                                                       \
  ENGINE_REGISTERS_4(c, i), ENGINE_REGISTERS_4(c, i + 4), ENGINE_REGISTERS_4(c, i + 8), \
      ENGINE_REGISTERS_4(c, i + 12)
#define ENGINE_REGISTERS_32(c, i) ENGINE_REGISTERS_16(c, i), ENGINE_REGISTERS_16(c, i + 16)
#define ENGINE_REGISTERS_64(c, i) ENGINE_REGISTERS_32(c, i), ENGINE_REGISTERS_32(c, i + 32)
#define ENGINE_REGISTERS_96(c, i) ENGINE_REGISTERS_64(c, i), ENGINE_REGISTERS_32(c, i + 64)
#define ENGINE_REGISTERS_128(c, i) ENGINE_REGISTERS_96(c, i), ENGINE_REGISTERS_32(c, i + 96)

// c = A B, and without keep == 0 plus c; both tiles in shared memory.
template <int kColumns>
struct Wgmma;

template <>
struct Wgmma<8> {
  __device__ static void multiply(float (&c)[4], Descriptor a, Descriptor b, int keep = 1) {
    asm volatile(
        "{.reg .pred kept; setp.ne.b32 kept, %6, 0;\n"
        "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {" ENGINE_PLACES_4
        "}, "
        "%4, %5, kept, 1, 1, 0, 0;}"
        : ENGINE_REGISTERS_4(c, 0)
        : "l"(a.bits()), "l"(b.bits()), "r"(keep));
  }
};

template <>
struct Wgmma<32> {
  __device__ static void multiply(float (&c)[16], Descriptor a, Descriptor b, int keep = 1) {
    asm volatile(
        "{.reg .pred kept; setp.ne.b32 kept, %18, 0;\n"
        "wgmma.mma_async.sync.aligned.m64n32k16.f32.bf16.bf16 {" ENGINE_PLACES_16
        "}, "
        "%16, %17, kept, 1, 1, 0, 0;}"
        : ENGINE_REGISTERS_16(c, 0)
        : "l"(a.bits()), "l"(b.bits()), "r"(keep));
  }
};

template <>
struct Wgmma<64> {
  __device__ static void multiply(float (&c)[32], Descriptor a, Descriptor b, int keep = 1) {
    asm volatile(
        "{.reg .pred kept; setp.ne.b32 kept, %34, 0;\n"
        "wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {" ENGINE_PLACES_32
        "}, "
        "%32, %33, kept, 1, 1, 0, 0;}"
        : ENGINE_REGISTERS_32(c, 0)
        : "l"(a.bits()), "l"(b.bits()), "r"(keep));
  }
};

template <>
struct Wgmma<128> {
  __device__ static void multiply(float (&c)[64], Descriptor a, Descriptor b, int keep = 1) {
    asm volatile(
        "{.reg .pred kept; setp.ne.b32 kept, %66, 0;\n"
        "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {" ENGINE_PLACES_64
        "}, "
        "%64, %65, kept, 1, 1, 0, 0;}"
        : ENGINE_REGISTERS_64(c, 0)
        : "l"(a.bits()), "l"(b.bits()), "r"(keep));
  }
};

template <>
struct Wgmma<192> {
  __device__ static void multiply(float (&c)[96], Descriptor a, Descriptor b, int keep = 1) {
    asm volatile(
        "{.reg .pred kept; setp.ne.b32 kept, %98, 0;\n"
        "wgmma.mma_async.sync.aligned.m64n192k16.f32.bf16.bf16 {" ENGINE_PLACES_96
        "}, "
        "%96, %97, kept, 1, 1, 0, 0;}"
        : ENGINE_REGISTERS_96(c, 0)
        : "l"(a.bits()), "l"(b.bits()), "r"(keep));
  }
};

template <>
struct Wgmma<256> {
  __device__ static void multiply(float (&c)[128], Descriptor a, Descriptor b, int keep = 1) {
    asm volatile(
        "{.reg .pred kept; setp.ne.b32 kept, %130, 0;\n"
        "wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16 {" ENGINE_PLACES_128
        "}, "
        "%128, %129, kept, 1, 1, 0, 0;}"
        : ENGINE_REGISTERS_128(c, 0)
        : "l"(a.bits()), "l"(b.bits()), "r"(keep));
  }
};

// c += A B, A (16 inner elements) in registers, laid out as mma.sync's m16n8k16 takes it, for each
// of the four warps; B given by a tile_descriptor.
template <int kColumns>
struct WgmmaRegisters;

template <>
struct WgmmaRegisters<64> {
  __device__ static void multiply(float (&c)[32], const std::uint32_t (&a)[4], Descriptor b,
                                  int keep = 1) {
    asm volatile(
        "{.reg .pred kept; setp.ne.b32 kept, %37, 0;\n"
        "wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {" ENGINE_PLACES_32
        "}, "
        "{%32, %33, %34, %35}, %36, kept, 1, 1, 0;}"
        : ENGINE_REGISTERS_32(c, 0)
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b.bits()), "r"(keep));
  }
};

template <>
struct WgmmaRegisters<128> {
  __device__ static void multiply(float (&c)[64], const std::uint32_t (&a)[4], Descriptor b,
                                  int keep = 1) {
    asm volatile(
        "{.reg .pred kept; setp.ne.b32 kept, %69, 0;\n"
        "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {" ENGINE_PLACES_64
        "}, "
        "{%64, %65, %66, %67}, %68, kept, 1, 1, 0;}"
        : ENGINE_REGISTERS_64(c, 0)
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b.bits()), "r"(keep));
  }
};

// The same with B given by a transposed_descriptor.
template <int kColumns>
struct WgmmaTransposed;

template <>
struct WgmmaTransposed<64> {
  __device__ static void multiply(float (&c)[32], const std::uint32_t (&a)[4], Descriptor b,
                                  int keep = 1) {
    asm volatile(
        "{.reg .pred kept; setp.ne.b32 kept, %37, 0;\n"
        "wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {" ENGINE_PLACES_32
        "}, "
        "{%32, %33, %34, %35}, %36, kept, 1, 1, 1;}"
        : ENGINE_REGISTERS_32(c, 0)
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b.bits()), "r"(keep));
  }
};

template <>
struct WgmmaTransposed<128> {
  __device__ static void multiply(float (&c)[64], const std::uint32_t (&a)[4], Descriptor b,
                                  int keep = 1) {
    asm volatile(
        "{.reg .pred kept; setp.ne.b32 kept, %69, 0;\n"
        "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {" ENGINE_PLACES_64
        "}, "
        "{%64, %65, %66, %67}, %68, kept, 1, 1, 1;}"
        : ENGINE_REGISTERS_64(c, 0)
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b.bits()), "r"(keep));
  }
};

#undef ENGINE_PLACES_4
#undef ENGINE_PLACES_16
#undef ENGINE_PLACES_32
#undef ENGINE_PLACES_64
#undef ENGINE_PLACES_96
#undef ENGINE_PLACES_128
#undef ENGINE_REGISTERS_4
#undef ENGINE_REGISTERS_16
#undef ENGINE_REGISTERS_32
#undef ENGINE_REGISTERS_64
#undef ENGINE_REGISTERS_96
#undef ENGINE_REGISTERS_128

}  // namespace engine::kernels::cuda
