#include "kernels/cpu/backend.h"

#include <hwy/targets.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>

#include "kernels/cpu/activation.h"
#include "kernels/cpu/attention.h"
#include "kernels/cpu/embed.h"
#include "kernels/cpu/experts.h"
#include "kernels/cpu/index.h"
#include "kernels/cpu/latent.h"
#include "kernels/cpu/matmul.h"
#include "kernels/cpu/norm.h"
#include "kernels/cpu/qkv.h"
#include "kernels/cpu/select.h"
#include "numerics/split_k.h"

namespace engine::kernels::cpu {
namespace {

std::string processor_name() {
  std::ifstream cpuinfo("/proc/cpuinfo");
  for (std::string line; std::getline(cpuinfo, line);) {
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  }
  return "processor";
}

std::string describe_device() {
  const std::int64_t best = hwy::SupportedAndGeneratedTargets().front();
  return processor_name() + ", " + (best == HWY_AVX3 ? "AVX-512" : hwy::TargetName(best));
}

std::size_t pages(int which) {
  return static_cast<std::size_t>(sysconf(which)) * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

// Linux hands out more memory than there is and kills whoever touches it, so what cannot fit the
// machine is refused here. calloc leaves the zeroing of large blocks to the system, page by page on
// first touch.
std::byte* allocate_zeroed(std::size_t bytes) {
  void* data = bytes < pages(_SC_PHYS_PAGES) ? std::calloc(bytes + 1, 1) : nullptr;
  if (data != nullptr) return static_cast<std::byte*>(data);
  throw BackendError("out of memory: " + std::to_string(bytes) + " bytes asked, " +
                     std::to_string(pages(_SC_AVPHYS_PAGES)) + " free");
}

class HostBuffer final : public Buffer {
 public:
  explicit HostBuffer(std::size_t bytes) : bytes_(bytes), data_(allocate_zeroed(bytes)) {}
  std::byte* data() override { return data_.get(); }
  std::size_t size() const override { return bytes_; }

 private:
  struct Free {
    void operator()(std::byte* data) const { std::free(data); }
  };

  std::size_t bytes_;
  std::unique_ptr<std::byte, Free> data_;
};

class CpuBackend final : public Backend {
 public:
  explicit CpuBackend(const BackendOptions& options)
      : threads_(options.threads), row_invariant_(options.row_invariant), copied_(options.copied) {}

  std::string_view name() const override { return "cpu"; }
  std::string_view device() const override { return device_; }

  std::unique_ptr<Buffer> allocate(std::size_t bytes) override {
    return std::make_unique<HostBuffer>(bytes);
  }
  void upload(void* to, const void* from_host, std::size_t bytes) override {
    copy(to, from_host, bytes);
  }
  void download(void* to_host, const void* from, std::size_t bytes) override {
    copy(to_host, from, bytes);
  }
  void copy(void* to, const void* from, std::size_t bytes) override {
    if (bytes > 0) std::memmove(to, from, bytes);
  }
  void synchronize() override {}

  std::unique_ptr<Matrix> prepare(std::span<const MatrixPart> parts, std::size_t inner) override {
    auto matrix = std::make_unique<PanelMatrix>(parts, inner, threads_);
    report_copied(copied_, parts, inner);
    return matrix;
  }
  std::unique_ptr<ExpertMatrices> prepare_experts(std::span<const MatrixPart> parts,
                                                  std::size_t inner, std::size_t experts) override {
    auto matrices = std::make_unique<PanelExperts>(parts, inner, experts, threads_);
    report_copied(copied_, parts, inner);
    return matrices;
  }
  const bf16* place(const bf16* host, std::size_t) override { return host; }

  void embed(float* out, const bf16* table, std::span<const Token> tokens, std::size_t hidden,
             float scale) override {
    cpu::embed(out, table, tokens, hidden, scale);
  }
  void norm(bf16* out, std::size_t out_stride, const float* x, const Norm& norm, std::size_t rows,
            std::size_t hidden) override {
    cpu::norm({out, out_stride, x, norm, rows, hidden}, threads_);
  }
  void add(float* x, const float* branch, const Norm& norm, float scale, std::size_t rows,
           std::size_t hidden) override {
    cpu::add({x, branch, norm, scale, rows, hidden}, threads_);
  }
  void matmul(float* out, const bf16* x, const Matrix& w, const bf16* bias, std::size_t rows,
              bool accumulate) override {
    const std::size_t split = split_of(rows, w.outputs(), w.inner());
    cpu::matmul({out, x, static_cast<const PanelMatrix&>(w), bias, rows, split, accumulate},
                threads_);
  }
  void write_qkv(bf16* query, const KvRows& kv, const HeadShape& heads, const QkvArgs& args,
                 std::size_t rows) override {
    cpu::write_qkv(query, kv, heads, args, rows, threads_);
  }
  void attention(bf16* out, const KvRows& kv, const HeadShape& heads, const AttentionArgs& args,
                 std::size_t rows) override {
    AttentionArgs chosen = args;
    if (row_invariant_) chosen.phase = Phase::kPrefill;
    cpu::attention(out, kv, heads, chosen, rows, threads_);
  }
  void write_latent(const LowQueries& out, const LatentRows& kept, const LatentShape& shape,
                    const IndexShape& index, const WriteLatentArgs& args,
                    std::size_t rows) override {
    cpu::write_latent(out, kept, shape, index, args, rows, threads_);
  }
  void write_latent_queries(const LatentQueries& out, const LatentShape& shape,
                            const IndexShape& index, const LatentQueriesArgs& args,
                            std::size_t rows) override {
    cpu::write_latent_queries(out, shape, index, args, rows, threads_);
  }
  void matmul_heads(bf16* out, std::size_t out_stride, const bf16* x, std::size_t x_stride,
                    const ExpertMatrices& w, std::size_t rows) override {
    cpu::matmul_heads({out, out_stride, x, x_stride, static_cast<const PanelExperts&>(w), rows},
                      threads_);
  }
  void choose(std::int32_t* chosen, const LatentRows& kept, const IndexShape& index,
              const ChooseArgs& args, std::size_t rows) override {
    cpu::choose(chosen, kept, index, args, rows, threads_);
  }
  void latent_attention(bf16* out, const LatentRows& kept, const LatentShape& shape,
                        const LatentAttentionArgs& args, std::size_t rows) override {
    LatentAttentionArgs chosen = args;
    if (row_invariant_) chosen.phase = Phase::kPrefill;
    cpu::latent_attention(out, kept, shape, chosen, rows, threads_);
  }
  void activate(bf16* out, const float* x, std::size_t rows, std::size_t intermediate,
                numerics::Activation activation) override {
    cpu::activate(out, x, rows, intermediate, activation, threads_);
  }
  void route(const Routes& out, const RouteArgs& args, std::size_t rows) override {
    cpu::route(out, args, rows, threads_);
  }
  void gather(bf16* out, const bf16* x, const RoutedRows& routed, std::size_t hidden) override {
    cpu::gather(out, x, routed, hidden, threads_);
  }
  void matmul_experts(float* out, const bf16* x, const ExpertMatrices& w,
                      const RoutedRows& routed) override {
    cpu::matmul_experts(out, x, static_cast<const PanelExperts&>(w), routed,
                        split_of(routed.rows, w.outputs(), w.inner()), threads_);
  }
  void mix(float* out, const float* x, const RoutedRows& routed, std::size_t hidden) override {
    cpu::mix(out, x, routed, hidden, threads_);
  }
  void scale_logits(float* logits, std::size_t count, float divisor, float cap) override {
    cpu::scale_logits(logits, count, divisor, cap, threads_);
  }
  void top2(std::span<Top2> out_host, const float* logits, std::size_t vocabulary) override {
    cpu::top2(out_host, logits, vocabulary, threads_);
  }

 private:
  std::size_t split_of(std::size_t rows, std::size_t outputs, std::size_t inner) const {
    return row_invariant_ ? numerics::split_k_row_invariant(outputs, inner)
                          : numerics::split_k(rows, outputs, inner);
  }

  std::string device_ = describe_device();
  Threads threads_;
  bool row_invariant_;
  std::function<void(std::span<const std::byte>)> copied_;
};

}  // namespace

std::unique_ptr<Backend> make_backend(const BackendOptions& options) {
  return std::make_unique<CpuBackend>(options);
}

}  // namespace engine::kernels::cpu
