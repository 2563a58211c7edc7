// What becomes of a tile's sums: two ends for the kernels of wide.cu, which call begin() while the
// last products run and end() after them.
#pragma once

#include "kernels/cuda/products/wide.cuh"
#include "numerics/exp.h"

namespace engine::kernels::cuda::wide {

// Where a consumer thread's accumulators lie: register 4 j + 2 h + e is row `row` + 8 h, column
// 8 j + `column` + e of the tile.
struct Lane {
  unsigned row, column;
};

__device__ inline Lane my_lane() {
  const unsigned lane = threadIdx.x % kWarp;
  return {threadIdx.x / kWarp * 16 + lane / 4, lane % 4 * 2};
}

// A warp's way out: boxes of 16 rows of 128 bytes, swizzled, written by all lanes and copied from
// there by the copy engine, one while the next is written.
class Boxes {
 public:
  __device__ Boxes(std::byte* staging, const CUtensorMap* map, unsigned row)
      : staging_(staging + threadIdx.x / kWarp * kWarpStaging),
        map_(map),
        row_(row + threadIdx.x / kWarp * kBoxRows) {}

  // The next box, once it has left.
  __device__ std::byte* begin() {
    if (threadIdx.x % kWarp == 0) store_box_wait<kWarpBoxes - 1>();
    __syncwarp();
    return staging_ + next_ % kWarpBoxes * kBoxBytes;
  }
  // Copies it to column `column` of the results.
  __device__ void end(unsigned column) {
    async_proxy_fence();
    __syncwarp();
    if (threadIdx.x % kWarp == 0) {
      store_box(map_, staging_ + next_ % kWarpBoxes * kBoxBytes, column, row_);
      store_box_commit();
    }
    ++next_;
  }
  // 16-byte piece `piece` of row `row`.
  __device__ static unsigned place(unsigned row, unsigned piece) {
    return row * 128 + (piece ^ row % 8) * 16;
  }

 private:
  std::byte* staging_;
  const CUtensorMap* map_;
  unsigned row_;
  unsigned next_ = 0;
};

// A tile's results have two sides, `second_side` outputs apart.
struct Place {
  unsigned row, output, second_side;
};

// Adds bias and old value, in that order, and stores float32.
struct Sums {
  const bf16* bias;  // [outputs], or null
  const float* old;  // [rows, outputs], or null
  unsigned rows, outputs;

  static constexpr unsigned kColumns = 32;  // of a box
  static constexpr unsigned kAhead = 2;     // boxes whose old values are on their way

  // Old values of the boxes of a tile of kTile outputs.
  template <unsigned kTile>
  struct Early {
    float2 old[kAhead][kColumns / 8][2];
  };

  template <unsigned kTile>
  __device__ static unsigned output_of(const Place& at, unsigned box) {
    constexpr unsigned kSide = kTile / 2 / kColumns;  // boxes
    return at.output + box / kSide * at.second_side + box % kSide * kColumns;
  }
  template <unsigned kTile>
  __device__ void fetch(Early<kTile>& early, const Place& at, unsigned box) const {
    const Lane lane = my_lane();
    const unsigned n = output_of<kTile>(at, box) + lane.column;
#pragma unroll
    for (unsigned h = 0; h < 2; ++h) {
      const unsigned row = at.row + lane.row + 8 * h;
      const float* from = old + std::size_t{row} * outputs + n;
#pragma unroll
      for (unsigned j = 0; j < kColumns / 8; ++j) {
        const bool valid = row < rows && n + 8 * j < outputs;
        early.old[box % kAhead][j][h] =
            valid ? *reinterpret_cast<const float2*>(from + 8 * j) : float2{};
      }
    }
  }
  template <unsigned kTile>
  __device__ void begin(Early<kTile>& early, const Place& at) const {
    if (old == nullptr) return;
#pragma unroll
    for (unsigned box = 0; box < kAhead; ++box)
      fetch<kTile>(early, at, box);
  }
  template <unsigned kTile>
  __device__ void end(float (&c)[kTile / 2], Early<kTile>& early, const Place& at,
                      Boxes boxes) const {
#pragma unroll
    for (unsigned box = 0; box < kTile / kColumns; ++box) {
      auto& mine = reinterpret_cast<float(&)[kColumns / 2]>(c[box * kColumns / 2]);
      const unsigned n = output_of<kTile>(at, box);
      if (bias != nullptr) add_bias(mine, n);
      if (old != nullptr) {
#pragma unroll
        for (unsigned i = 0; i < kColumns / 2; i += 2) {
          const float2 before = early.old[box % kAhead][i / 4][i / 2 % 2];
          mine[i] = mine[i] + before.x;
          mine[i + 1] = mine[i + 1] + before.y;
        }
        if (box + kAhead < kTile / kColumns) fetch<kTile>(early, at, box + kAhead);
      }
      write(boxes.begin(), mine);
      boxes.end(n);
    }
  }

 private:
  __device__ void add_bias(float (&c)[kColumns / 2], unsigned output) const {
#pragma unroll
    for (unsigned i = 0; i < kColumns / 2; ++i) {
      const unsigned n = output + i / 4 * 8 + my_lane().column + i % 2;
      c[i] = c[i] + (n < outputs ? numerics::to_float(bias[n]) : 0.0f);
    }
  }
  // Odd rows begin with another octet of columns than even ones: no bank conflicts.
  __device__ static void write(std::byte* box, const float (&c)[kColumns / 2]) {
    const unsigned g = threadIdx.x % kWarp / 4, t = threadIdx.x % 4;
#pragma unroll
    for (unsigned j = 0; j < kColumns / 8; ++j) {
      const unsigned octet = j ^ g % 2 * 2;
#pragma unroll
      for (unsigned h = 0; h < 2; ++h) {
        const unsigned even = 4 * j + 2 * h, odd = 4 * (j ^ 2) + 2 * h;
        const float2 pair = {g % 2 == 0 ? c[even] : c[odd], g % 2 == 0 ? c[even + 1] : c[odd + 1]};
        std::byte* to = box + Boxes::place(g + 8 * h, 2 * octet + t / 2) + t % 2 * 8;
        *reinterpret_cast<float2*>(to) = pair;
      }
    }
  }
};

// The gates are one side of a tile, the ups that belong to them the other: both of an output are
// one thread's. Stores bf16(silu(gate) * up).
struct Gated {
  unsigned rows;

  static constexpr unsigned kColumns = 64;  // of a box
  static constexpr const float* old = nullptr;

  template <unsigned kTile>
  struct Early {};

  template <unsigned kTile>
  __device__ void begin(Early<kTile>&, const Place&) const {}
  template <unsigned kTile>
  __device__ void end(float (&c)[kTile / 2], Early<kTile>&, const Place& at, Boxes boxes) const {
    // Divisions of zeros, which rows beyond the last are, take a slow path.
    if (at.row + threadIdx.x / kWarp * kBoxRows >= rows) return;
    const unsigned lane = threadIdx.x % kWarp;
    const auto result = [&](unsigned i) { return numerics::silu(c[i]) * c[kTile / 4 + i]; };
#pragma unroll
    for (unsigned first = 0; first < kTile / 2; first += kColumns) {
      std::byte* box = boxes.begin();
#pragma unroll
      for (unsigned piece = 0; piece < kColumns / 8; piece += 2) {
        std::uint32_t pairs[4];
#pragma unroll
        for (unsigned i = 0; i < 4; ++i) {
          const unsigned at_register = first / 2 + 4 * piece + 2 * i;
          pairs[i] = round_bf16x2(result(at_register), result(at_register + 1));
        }
        store_matrix_x4(shared_address(box + Boxes::place(lane % 16, piece + lane / 16)), pairs);
      }
      boxes.end(at.output + first);
    }
  }
};

}  // namespace engine::kernels::cuda::wide
