#include <optional>
#include <string>
#include <vector>

#include "kernels/cuda/attention/attention.h"
#include "kernels/cuda/backend.h"
#include "kernels/cuda/device/driver.h"
#include "kernels/cuda/device/graph.h"
#include "kernels/cuda/device/self_check.h"
#include "kernels/cuda/experts/experts.h"
#include "kernels/cuda/experts/heads.h"
#include "kernels/cuda/index/index.h"
#include "kernels/cuda/products/matmul.h"
#include "kernels/cuda/products/matrix.h"
#include "kernels/cuda/rows/activation.h"
#include "kernels/cuda/rows/embed.h"
#include "kernels/cuda/rows/latent.h"
#include "kernels/cuda/rows/norm.h"
#include "kernels/cuda/rows/qkv.h"
#include "kernels/cuda/rows/select.h"
#include "numerics/split_k.h"

namespace engine::kernels::cuda {
namespace {

// The first device that this build's code runs on, or why there is none.
struct DeviceChoice {
  std::optional<int> device;
  std::string reason;
};

DeviceChoice choose_device() {
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status != cudaSuccess) {
    cudaGetLastError();
    return {std::nullopt, cudaGetErrorString(status)};
  }
  for (int device = 0; device < count; ++device) {
    int major = 0, minor = 0;
    ENGINE_CUDA_CHECK(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
    ENGINE_CUDA_CHECK(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device));
    if (major == 9 && minor == 0) return {device, ""};
  }
  return {std::nullopt, "none of " + std::to_string(count) +
                            " devices has compute capability 9.0, which this build is for"};
}

class Stream {
 public:
  Stream() { ENGINE_CUDA_CHECK(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking)); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  ~Stream() { cudaStreamDestroy(stream_); }
  operator cudaStream_t() const { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

class DeviceBuffer final : public Buffer {
 public:
  DeviceBuffer(std::size_t bytes, cudaStream_t stream) : memory_(bytes) {
    ENGINE_CUDA_CHECK(cudaMemsetAsync(memory_.data(), 0, bytes, stream));
  }
  std::byte* data() override { return memory_.data(); }
  std::size_t size() const override { return memory_.size(); }

 private:
  DeviceMemory memory_;
};

std::string describe(int device, cudaStream_t stream) {
  cudaDeviceProp properties;
  ENGINE_CUDA_CHECK(cudaGetDeviceProperties(&properties, device));
  std::string text = properties.name;
  if (!rounds_as_modelled(stream)) {
    text +=
        " (its matrix unit rounds otherwise than an H200's: results may differ from the cpu "
        "backend's; cached runs still equal cold ones)";
  }
  return text;
}

// The launches of this object's lifetime take `advance`.
class Advancing {
 public:
  Advancing(const int*& slot, const int* advance) : slot_(slot) { slot_ = advance; }
  Advancing(const Advancing&) = delete;
  Advancing& operator=(const Advancing&) = delete;
  ~Advancing() { slot_ = nullptr; }

 private:
  const int*& slot_;
};

// Work goes to one stream, in call order. REQUIRES, of callers: one thread at a time.
class CudaBackend final : public Backend {
 public:
  // REQUIRES: `device` is current.
  CudaBackend(int device, const BackendOptions& options)
      : device_(device),
        row_invariant_(options.row_invariant),
        copied_(options.copied),
        name_(describe(device, stream_)) {}

  std::string_view name() const override { return "cuda"; }
  std::string_view device() const override { return name_; }

  std::unique_ptr<Buffer> allocate(std::size_t bytes) override {
    return std::make_unique<DeviceBuffer>(bytes, use());
  }
  void upload(void* to, const void* from_host, std::size_t bytes) override {
    transfer(to, from_host, bytes, cudaMemcpyHostToDevice);
    synchronize();
  }
  void download(void* to_host, const void* from, std::size_t bytes) override {
    transfer(to_host, from, bytes, cudaMemcpyDeviceToHost);
    synchronize();
  }
  void copy(void* to, const void* from, std::size_t bytes) override {
    transfer(to, from, bytes, cudaMemcpyDeviceToDevice);
  }
  void synchronize() override { ENGINE_CUDA_CHECK(cudaStreamSynchronize(use())); }

  std::unique_ptr<Matrix> prepare(std::span<const MatrixPart> parts, std::size_t inner) override {
    auto matrix = std::make_unique<DeviceMatrix>(parts, inner, use());
    report_copied(copied_, parts, inner);
    return matrix;
  }
  std::unique_ptr<ExpertMatrices> prepare_experts(std::span<const MatrixPart> parts,
                                                  std::size_t inner, std::size_t experts) override {
    auto matrices = std::make_unique<DeviceExperts>(parts, inner, experts, use());
    report_copied(copied_, parts, inner);
    return matrices;
  }
  const bf16* place(const bf16* host, std::size_t count) override {
    use();
    const DeviceMemory& memory = placed_.emplace_back(count * sizeof(bf16));
    upload(memory.data(), host, memory.size());
    return reinterpret_cast<const bf16*>(memory.data());
  }

  void embed(float* out, const bf16* table, std::span<const Token> tokens, std::size_t hidden,
             float scale) override {
    cuda::embed(out, table, tokens, hidden, scale, use());
  }
  void norm(bf16* out, std::size_t out_stride, const float* x, const Norm& norm, std::size_t rows,
            std::size_t hidden) override {
    cuda::norm({out, out_stride, x, norm, rows, hidden}, use());
  }
  void add(float* x, const float* branch, const Norm& norm, float scale, std::size_t rows,
           std::size_t hidden) override {
    cuda::add({x, branch, norm, scale, rows, hidden}, use());
  }
  void matmul(float* out, const bf16* x, const Matrix& w, const bf16* bias, std::size_t rows,
              bool accumulate) override {
    const std::size_t split = split_of(rows, w.outputs(), w.inner());
    cuda::matmul({out, x, static_cast<const DeviceMatrix&>(w), bias, rows, split, accumulate},
                 use());
  }
  void matmul_activate(bf16* out, float* projected, const bf16* x, const Matrix& w,
                       const bf16* bias, std::size_t rows,
                       numerics::Activation activation) override {
    const bool plain = bias == nullptr && activation == numerics::Activation::kSiluGated;
    const bool one_slice = !row_invariant_ && numerics::split_k(rows, w.outputs(), w.inner()) == 1;
    const auto& matrix = static_cast<const DeviceMatrix&>(w);
    if (plain && one_slice && matmul_gated({out, x, matrix, rows}, use())) return;
    Backend::matmul_activate(out, projected, x, w, bias, rows, activation);
  }
  void write_qkv(bf16* query, const KvRows& kv, const HeadShape& heads, const QkvArgs& args,
                 std::size_t rows) override {
    cuda::write_qkv(query, kv, heads, args, rows, advance_, use());
  }
  void attention(bf16* out, const KvRows& kv, const HeadShape& heads, const AttentionArgs& args,
                 std::size_t rows) override {
    AttentionArgs chosen = args;
    if (row_invariant_) chosen.phase = Phase::kPrefill;
    attention_.run(out, kv, heads, chosen, rows, advance_, use());
  }
  void write_latent(const LowQueries& out, const LatentRows& kept, const LatentShape& shape,
                    const IndexShape& index, const WriteLatentArgs& args,
                    std::size_t rows) override {
    cuda::write_latent(out, kept, shape, index, args, rows, advance_, use());
  }
  void write_latent_queries(const LatentQueries& out, const LatentShape& shape,
                            const IndexShape& index, const LatentQueriesArgs& args,
                            std::size_t rows) override {
    cuda::write_latent_queries(out, shape, index, args, rows, advance_, use());
  }
  void matmul_heads(bf16* out, std::size_t out_stride, const bf16* x, std::size_t x_stride,
                    const ExpertMatrices& w, std::size_t rows) override {
    cuda::matmul_heads({out, out_stride, x, x_stride, static_cast<const DeviceExperts&>(w), rows},
                       use());
  }
  void choose(std::int32_t* chosen, const LatentRows& kept, const IndexShape& index,
              const ChooseArgs& args, std::size_t rows) override {
    cuda::choose(chosen, kept, index, args, rows, advance_, use());
  }
  void latent_attention(bf16* out, const LatentRows& kept, const LatentShape& shape,
                        const LatentAttentionArgs& args, std::size_t rows) override {
    LatentAttentionArgs chosen = args;
    if (row_invariant_) chosen.phase = Phase::kPrefill;
    attention_.run(out, kept, shape, chosen, rows, advance_, use());
  }
  void activate(bf16* out, const float* x, std::size_t rows, std::size_t intermediate,
                numerics::Activation activation) override {
    cuda::activate(out, x, rows, intermediate, activation, use());
  }
  void route(const Routes& out, const RouteArgs& args, std::size_t rows) override {
    cuda::route(out, args, rows, use());
  }
  void gather(bf16* out, const bf16* x, const RoutedRows& routed, std::size_t hidden) override {
    cuda::gather(out, x, routed, hidden, use());
  }
  void matmul_experts(float* out, const bf16* x, const ExpertMatrices& w,
                      const RoutedRows& routed) override {
    cuda::matmul_experts(out, x, static_cast<const DeviceExperts&>(w), routed,
                         split_of(routed.rows, w.outputs(), w.inner()), use());
  }
  void mix(float* out, const float* x, const RoutedRows& routed, std::size_t hidden) override {
    cuda::mix(out, x, routed, hidden, use());
  }
  void scale_logits(float* logits, std::size_t count, float divisor, float cap) override {
    cuda::scale_logits(logits, count, divisor, cap, use());
  }
  std::unique_ptr<Recording> make_recording() override {
    use();
    return std::make_unique<GraphRecording>();
  }
  void repeat(Recording& recording, std::size_t rows, std::size_t position,
              const std::function<void()>& step) override {
    if (row_invariant_) return step();  // its prefill kernels take no advance
    static_cast<GraphRecording&>(recording).repeat(rows, position, use(), step,
                                                   [&](const int* advance) {
                                                     const Advancing captured(advance_, advance);
                                                     step();
                                                   });
  }
  void top2(std::span<Top2> out_host, const float* logits, std::size_t vocabulary) override {
    select_.top2(out_host, logits, vocabulary, use());
  }

 private:
  std::size_t split_of(std::size_t rows, std::size_t outputs, std::size_t inner) const {
    return row_invariant_ ? numerics::split_k_row_invariant(outputs, inner)
                          : numerics::split_k(rows, outputs, inner);
  }
  // A process has one current device a thread; calls may come from any thread.
  cudaStream_t use() const {
    ENGINE_CUDA_CHECK(cudaSetDevice(device_));
    return stream_;
  }
  void transfer(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
    ENGINE_CUDA_CHECK(cudaMemcpyAsync(to, from, bytes, kind, use()));
  }

  int device_;
  bool row_invariant_;
  std::function<void(std::span<const std::byte>)> copied_;
  Stream stream_;
  std::string name_;
  const int* advance_ = nullptr;  // of the launches that are being captured
  std::vector<DeviceMemory> placed_;
  Attention attention_;
  Select select_;
};

}  // namespace

bool device_present() {
  return choose_device().device.has_value();
}

std::unique_ptr<Backend> make_backend(const BackendOptions& options) {
  const DeviceChoice choice = choose_device();
  if (!choice.device) throw BackendError("backend 'cuda' has no device: " + choice.reason);
  ENGINE_CUDA_CHECK(cudaSetDevice(*choice.device));
  return std::make_unique<CudaBackend>(*choice.device, options);
}

}  // namespace engine::kernels::cuda
