// What every numerics header needs to mean the same on the host and on a CUDA device.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#if defined(__CUDACC__)
#define ENGINE_HD __host__ __device__
#else
#define ENGINE_HD
#endif

namespace engine::numerics {

ENGINE_HD inline std::uint32_t float_bits(float x) {
#if defined(__CUDA_ARCH__)
  return __float_as_uint(x);
#else
  return std::bit_cast<std::uint32_t>(x);
#endif
}

ENGINE_HD inline float bits_float(std::uint32_t bits) {
#if defined(__CUDA_ARCH__)
  return __uint_as_float(bits);
#else
  return std::bit_cast<float>(bits);
#endif
}

// a * b + c with one rounding (IEEE 754 fusedMultiplyAdd). Plain a * b + c always means two: both
// compilers are told not to contract.
ENGINE_HD inline float fma(float a, float b, float c) {
  return ::fmaf(a, b, c);
}
ENGINE_HD inline double fma(double a, double b, double c) {
  return ::fma(a, b, c);
}

// Number of bits of x below and including its highest one bit; 0 for 0.
ENGINE_HD inline int bit_width(std::uint64_t x) {
#if defined(__CUDA_ARCH__)
  return 64 - __clzll(static_cast<long long>(x));
#else
  return static_cast<int>(std::bit_width(x));
#endif
}

}  // namespace engine::numerics
