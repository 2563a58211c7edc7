#include "kernels/cuda/index/index.h"

#include <algorithm>
#include <string>

#include "numerics/attention.h"

namespace engine::kernels::cuda {
namespace {

// Rows [begin, begin + rows) of a launch.
IndexProblem problem_of(std::int32_t* chosen, const LatentRows& kept, const IndexShape& index,
                        const ChooseArgs& args, std::size_t begin, std::size_t rows) {
  return {.chosen = chosen + begin * index.most,
          .keys = kept.index_keys,
          .query = args.query + begin * index.heads * index.size,
          .weights = args.weights + begin * index.heads,
          .scores = args.scores,
          .slots = narrow(kept.slots),
          .heads = narrow(index.heads),
          .size = narrow(index.size),
          .most = narrow(index.most),
          .rows = narrow(rows),
          .position = narrow(args.position + begin),
          .keys_end = narrow(args.position + begin + rows),
          .advance = nullptr};
}

}  // namespace

void choose(std::int32_t* chosen, const LatentRows& kept, const IndexShape& index,
            const ChooseArgs& args, std::size_t rows, const int* advance, cudaStream_t stream) {
  if (index.size > kMostIndexSize) {
    throw BackendError("the CUDA backend has no indexer with heads of " +
                       std::to_string(index.size) + " elements; " + std::to_string(kMostIndexSize) +
                       " is the largest");
  }
  // A recorded launch must do for every position that it is repeated at, and whether a row leaves
  // something out is seen on the device.
  const std::size_t most = index.most;
  const std::size_t complete =
      advance == nullptr && most > args.position ? std::min(rows, most - args.position) : 0;
  if (complete > 0) index_choose(problem_of(chosen, kept, index, args, 0, complete), stream);
  for (std::size_t r = complete; r < rows; r += kIndexRows) {
    IndexProblem p = problem_of(chosen, kept, index, args, r, std::min(kIndexRows, rows - r));
    if (advance != nullptr) {
      p.advance = advance;
      const std::size_t segment = (args.position + rows - 1) / numerics::kSegmentKeys;
      p.keys_end = narrow((segment + 1) * numerics::kSegmentKeys);
    }
    index_scores(p, stream);
    index_choose(p, stream);
  }
}

}  // namespace engine::kernels::cuda
