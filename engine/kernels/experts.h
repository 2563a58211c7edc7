// What the operations on experts take. The definitions are in numerics/router.h.
//
// Letters:  E experts   T experts of each row   P = R T pairs of a row and one of its experts
// A launch's pairs are kept in order of expert, then row, so that an expert's rows lie together;
// a pair's index in that order is its place.
#pragma once

#include <cstddef>
#include <cstdint>

#include "numerics/router.h"

namespace engine::kernels {

// Backend memory that `route` fills and the operations after it read.
struct Routes {
  std::int32_t* experts;  // [R, T]: each row's, ascending
  float* weights;         // [R, T]
  std::int32_t* places;   // [R, T]: where the pair stands
  std::int32_t* rows;     // [P]: the row of the pair at each place
  std::int32_t* begins;   // [E + 1]: an expert's first place; the last is P
};

struct RouteArgs {
  const float* logits;  // [R, E]
  const float* bias;    // [E], or null
  numerics::RouterRule rule;
};

// One weight matrix [N, K] for each expert, in whatever layout the backend multiplies fastest.
class ExpertMatrices {
 public:
  virtual ~ExpertMatrices() = default;
  virtual std::size_t experts() const = 0;  // E
  virtual std::size_t outputs() const = 0;  // N
  virtual std::size_t inner() const = 0;    // K
};

// The rows of a launch and the experts of each.
struct RoutedRows {
  const Routes& routes;
  std::size_t rows;    // R
  std::size_t chosen;  // T

  std::size_t pairs() const { return rows * chosen; }
};

}  // namespace engine::kernels
