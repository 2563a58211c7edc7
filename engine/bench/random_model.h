// A model of Llama-3-8B's shape with random weights, for benchmarks: nothing is read from a file.
//
// The model folder's weights file is a header and a hole of 16 GB; RandomWeights stands between the
// network and the backend and places random values instead of the file's.
#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "kernels/ops.h"
#include "model/model.h"
#include "runtime/network.h"

namespace engine::bench {

// Forwards to another backend, which must outlive it, except for the values of weights.
class RandomWeights final : public kernels::Backend {
 public:
  explicit RandomWeights(kernels::Backend& backend);

  std::string_view name() const override { return backend_.name(); }
  std::string_view device() const override { return backend_.device(); }
  std::unique_ptr<kernels::Buffer> allocate(std::size_t bytes) override {
    return backend_.allocate(bytes);
  }
  void upload(void* to, const void* from_host, std::size_t bytes) override {
    backend_.upload(to, from_host, bytes);
  }
  void download(void* to_host, const void* from, std::size_t bytes) override {
    backend_.download(to_host, from, bytes);
  }
  void copy(void* to, const void* from, std::size_t bytes) override {
    backend_.copy(to, from, bytes);
  }
  void synchronize() override { backend_.synchronize(); }

  // The parts' values are replaced by random ones of deviation 0.02.
  std::unique_ptr<kernels::Matrix> prepare(std::span<const kernels::MatrixPart> parts,
                                           std::size_t inner) override;
  std::unique_ptr<kernels::ExpertMatrices> prepare_experts(
      std::span<const kernels::MatrixPart> parts, std::size_t inner, std::size_t experts) override;
  // Likewise; vectors of up to 65,536 elements, the norms, become ones.
  const kernels::bf16* place(const kernels::bf16* host, std::size_t count) override;

  void embed(float* out, const kernels::bf16* table, std::span<const kernels::Token> tokens,
             std::size_t hidden, float scale) override {
    backend_.embed(out, table, tokens, hidden, scale);
  }
  void norm(kernels::bf16* out, std::size_t out_stride, const float* x, const kernels::Norm& norm,
            std::size_t rows, std::size_t hidden) override {
    backend_.norm(out, out_stride, x, norm, rows, hidden);
  }
  void add(float* x, const float* branch, const kernels::Norm& norm, float scale, std::size_t rows,
           std::size_t hidden) override {
    backend_.add(x, branch, norm, scale, rows, hidden);
  }
  void matmul(float* out, const kernels::bf16* x, const kernels::Matrix& w,
              const kernels::bf16* bias, std::size_t rows, bool accumulate) override {
    backend_.matmul(out, x, w, bias, rows, accumulate);
  }
  void write_qkv(kernels::bf16* query, const kernels::KvRows& kv, const kernels::HeadShape& heads,
                 const kernels::QkvArgs& args, std::size_t rows) override {
    backend_.write_qkv(query, kv, heads, args, rows);
  }
  void attention(kernels::bf16* out, const kernels::KvRows& kv, const kernels::HeadShape& heads,
                 const kernels::AttentionArgs& args, std::size_t rows) override {
    backend_.attention(out, kv, heads, args, rows);
  }
  void write_latent(const kernels::LowQueries& out, const kernels::LatentRows& kept,
                    const kernels::LatentShape& shape, const kernels::IndexShape& index,
                    const kernels::WriteLatentArgs& args, std::size_t rows) override {
    backend_.write_latent(out, kept, shape, index, args, rows);
  }
  void write_latent_queries(const kernels::LatentQueries& out, const kernels::LatentShape& shape,
                            const kernels::IndexShape& index,
                            const kernels::LatentQueriesArgs& args, std::size_t rows) override {
    backend_.write_latent_queries(out, shape, index, args, rows);
  }
  void matmul_heads(kernels::bf16* out, std::size_t out_stride, const kernels::bf16* x,
                    std::size_t x_stride, const kernels::ExpertMatrices& w,
                    std::size_t rows) override {
    backend_.matmul_heads(out, out_stride, x, x_stride, w, rows);
  }
  void choose(std::int32_t* chosen, const kernels::LatentRows& kept,
              const kernels::IndexShape& index, const kernels::ChooseArgs& args,
              std::size_t rows) override {
    backend_.choose(chosen, kept, index, args, rows);
  }
  void latent_attention(kernels::bf16* out, const kernels::LatentRows& kept,
                        const kernels::LatentShape& shape, const kernels::LatentAttentionArgs& args,
                        std::size_t rows) override {
    backend_.latent_attention(out, kept, shape, args, rows);
  }
  void matmul_activate(kernels::bf16* out, float* projected, const kernels::bf16* x,
                       const kernels::Matrix& w, const kernels::bf16* bias, std::size_t rows,
                       numerics::Activation activation) override {
    backend_.matmul_activate(out, projected, x, w, bias, rows, activation);
  }
  void activate(kernels::bf16* out, const float* x, std::size_t rows, std::size_t intermediate,
                numerics::Activation activation) override {
    backend_.activate(out, x, rows, intermediate, activation);
  }
  void route(const kernels::Routes& out, const kernels::RouteArgs& args,
             std::size_t rows) override {
    backend_.route(out, args, rows);
  }
  void gather(kernels::bf16* out, const kernels::bf16* x, const kernels::RoutedRows& routed,
              std::size_t hidden) override {
    backend_.gather(out, x, routed, hidden);
  }
  void matmul_experts(float* out, const kernels::bf16* x, const kernels::ExpertMatrices& w,
                      const kernels::RoutedRows& routed) override {
    backend_.matmul_experts(out, x, w, routed);
  }
  void mix(float* out, const float* x, const kernels::RoutedRows& routed,
           std::size_t hidden) override {
    backend_.mix(out, x, routed, hidden);
  }
  void scale_logits(float* logits, std::size_t count, float divisor, float cap) override {
    backend_.scale_logits(logits, count, divisor, cap);
  }
  std::unique_ptr<kernels::Recording> make_recording() override {
    return backend_.make_recording();
  }
  void repeat(kernels::Recording& recording, std::size_t rows, std::size_t position,
              const std::function<void()>& step) override {
    backend_.repeat(recording, rows, position, step);
  }
  void top2(std::span<kernels::Top2> out_host, const float* logits,
            std::size_t vocabulary) override {
    backend_.top2(out_host, logits, vocabulary);
  }

 private:
  std::vector<kernels::MatrixPart> random_parts(std::span<const kernels::MatrixPart> parts,
                                                std::size_t inner) const;

  kernels::Backend& backend_;
  std::vector<kernels::bf16> block_;  // random values, reused
  std::vector<std::vector<kernels::bf16>> placed_;
};

// A folder that is removed with this object. Throws ModelError or filesystem_error.
class RandomModelFolder {
 public:
  // `layers`: 32 in the real shape. `small` divides every size by 16, for a quick look.
  RandomModelFolder(std::size_t layers, bool small);
  RandomModelFolder(const RandomModelFolder&) = delete;
  RandomModelFolder& operator=(const RandomModelFolder&) = delete;
  ~RandomModelFolder();

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace engine::bench
