// Decode steps as CUDA graphs: see Backend::repeat.
//
// A step is some hundred launches that differ from the step before in nothing but the position. It
// is captured once, and its kernels then read from device memory how far the text has moved on
// since (`advance`). What a launch's shape depends on, the number of rows and the segment that the
// last row lies in, makes a new capture.
#pragma once

#include <functional>
#include <vector>

#include "kernels/cuda/device/driver.h"

namespace engine::kernels::cuda {

class Graph {
 public:
  // Captures what `work` launches into `stream`.
  Graph(cudaStream_t stream, const std::function<void()>& work);
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
  ~Graph();

  void launch(cudaStream_t stream) const;

 private:
  cudaGraphExec_t executable_ = nullptr;
};

class GraphRecording final : public Recording {
 public:
  GraphRecording();

  // `capture(advance)` runs the step so that its launches add *advance to their positions; `plain`
  // runs it as it is.
  void repeat(std::size_t rows, std::size_t position, cudaStream_t stream,
              const std::function<void()>& plain, const std::function<void(const int*)>& capture);

 private:
  struct Step {
    bool seen = false;
    std::unique_ptr<Graph> graph;
    std::size_t position = 0;  // that was captured
    std::size_t segment = 0;   // of its last row
  };
  std::vector<Step> steps_;  // by rows
  DeviceMemory advance_;
};

}  // namespace engine::kernels::cuda
