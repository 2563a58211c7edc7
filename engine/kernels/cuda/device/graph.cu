#include "kernels/cuda/device/graph.h"

#include "numerics/attention.h"

namespace engine::kernels::cuda {
namespace {

__global__ void set_kernel(int* word, int value) {
  *word = value;
}

// Ends the capture whatever happens: a stream must not be left in it.
class Capture {
 public:
  explicit Capture(cudaStream_t stream) : stream_(stream) {
    ENGINE_CUDA_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
  }
  ~Capture() {
    cudaGraph_t graph = graph_;
    if (graph == nullptr) cudaStreamEndCapture(stream_, &graph);
    if (graph != nullptr) cudaGraphDestroy(graph);
    cudaGetLastError();  // of a capture that something broke off
  }
  cudaGraph_t end() {
    ENGINE_CUDA_CHECK(cudaStreamEndCapture(stream_, &graph_));
    return graph_;
  }

 private:
  cudaStream_t stream_;
  cudaGraph_t graph_ = nullptr;
};

}  // namespace

Graph::Graph(cudaStream_t stream, const std::function<void()>& work) {
  Capture capture(stream);
  work();
  ENGINE_CUDA_CHECK(cudaGraphInstantiate(&executable_, capture.end(), 0));
}

Graph::~Graph() {
  cudaGraphExecDestroy(executable_);
}

void Graph::launch(cudaStream_t stream) const {
  ENGINE_CUDA_CHECK(cudaGraphLaunch(executable_, stream));
}

GraphRecording::GraphRecording() : advance_(sizeof(int)) {}

// The first step of a row count runs as it is: many counts come once, and what launchers do once
// must not happen during a capture.
void GraphRecording::repeat(std::size_t rows, std::size_t position, cudaStream_t stream,
                            const std::function<void()>& plain,
                            const std::function<void(const int*)>& capture) {
  if (steps_.size() <= rows) steps_.resize(rows + 1);
  Step& step = steps_[rows];
  if (!step.seen) {
    step.seen = true;
    return plain();
  }
  auto* advance = reinterpret_cast<int*>(advance_.data());
  const std::size_t segment = (position + rows - 1) / numerics::kSegmentKeys;
  if (step.graph == nullptr || step.segment != segment) {
    step.graph = std::make_unique<Graph>(stream, [&] { capture(advance); });
    step.position = position;
    step.segment = segment;
  }
  // In stream order the whole graph comes after this: its kernels may read the word at once.
  set_kernel<<<1, 1, 0, stream>>>(advance, static_cast<int>(position - step.position));
  ENGINE_CUDA_CHECK(cudaGetLastError());
  step.graph->launch(stream);
}

}  // namespace engine::kernels::cuda
