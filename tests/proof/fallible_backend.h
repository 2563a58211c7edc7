// A backend that breaks on command: passes every operation on and throws before the n-th.
//
// Operations are counted from arm() on, so that a test can stop a run between any two stages and
// learn how many there were.
#pragma once

#include <functional>
#include <limits>
#include <memory>
#include <optional>

#include "kernels/ops.h"

namespace engine::runtime::testing {

class FallibleBackend final : public kernels::Backend {
 public:
  using bf16 = kernels::bf16;

  explicit FallibleBackend(std::unique_ptr<kernels::Backend> real) : real_(std::move(real)) {}

  // From here on `operations` pass, and every one after them throws BackendError.
  void arm(std::size_t operations) {
    seen_ = 0;
    allowed_ = operations;
  }
  void disarm() { allowed_ = kAll; }
  // Operations since arm().
  std::size_t seen() const { return seen_; }

  static constexpr std::size_t kAll = std::numeric_limits<std::size_t>::max();

  std::string_view name() const override { return real_->name(); }
  std::string_view device() const override { return real_->device(); }
  std::unique_ptr<kernels::Buffer> allocate(std::size_t bytes) override {
    return real_->allocate(bytes);
  }
  std::unique_ptr<kernels::Matrix> prepare(std::span<const kernels::MatrixPart> parts,
                                           std::size_t inner) override {
    return real_->prepare(parts, inner);
  }
  std::unique_ptr<kernels::ExpertMatrices> prepare_experts(
      std::span<const kernels::MatrixPart> parts, std::size_t inner, std::size_t experts) override {
    return real_->prepare_experts(parts, inner, experts);
  }
  const bf16* place(const bf16* host, std::size_t count) override {
    return real_->place(host, count);
  }

  void upload(void* to, const void* from_host, std::size_t bytes) override {
    step();
    real_->upload(to, from_host, bytes);
  }
  void download(void* to_host, const void* from, std::size_t bytes) override {
    step();
    real_->download(to_host, from, bytes);
  }
  void copy(void* to, const void* from, std::size_t bytes) override {
    step();
    real_->copy(to, from, bytes);
  }
  void synchronize() override {
    step();
    real_->synchronize();
  }
  void embed(float* out, const bf16* table, std::span<const kernels::Token> tokens,
             std::size_t hidden, float scale) override {
    step();
    real_->embed(out, table, tokens, hidden, scale);
  }
  void norm(bf16* out, std::size_t out_stride, const float* x, const kernels::Norm& norm,
            std::size_t rows, std::size_t hidden) override {
    step();
    real_->norm(out, out_stride, x, norm, rows, hidden);
  }
  void add(float* x, const float* branch, const kernels::Norm& norm, float scale, std::size_t rows,
           std::size_t hidden) override {
    step();
    real_->add(x, branch, norm, scale, rows, hidden);
  }
  void matmul(float* out, const bf16* x, const kernels::Matrix& w, const bf16* bias,
              std::size_t rows, bool accumulate) override {
    step();
    real_->matmul(out, x, w, bias, rows, accumulate);
  }
  void write_qkv(bf16* query, const kernels::KvRows& kv, const kernels::HeadShape& heads,
                 const kernels::QkvArgs& args, std::size_t rows) override {
    step();
    real_->write_qkv(query, kv, heads, args, rows);
  }
  void attention(bf16* out, const kernels::KvRows& kv, const kernels::HeadShape& heads,
                 const kernels::AttentionArgs& args, std::size_t rows) override {
    step();
    real_->attention(out, kv, heads, args, rows);
  }
  void write_latent(const kernels::LowQueries& out, const kernels::LatentRows& kept,
                    const kernels::LatentShape& shape, const kernels::IndexShape& index,
                    const kernels::WriteLatentArgs& args, std::size_t rows) override {
    step();
    real_->write_latent(out, kept, shape, index, args, rows);
  }
  void write_latent_queries(const kernels::LatentQueries& out, const kernels::LatentShape& shape,
                            const kernels::IndexShape& index,
                            const kernels::LatentQueriesArgs& args, std::size_t rows) override {
    step();
    real_->write_latent_queries(out, shape, index, args, rows);
  }
  void matmul_heads(kernels::bf16* out, std::size_t out_stride, const kernels::bf16* x,
                    std::size_t x_stride, const kernels::ExpertMatrices& w,
                    std::size_t rows) override {
    step();
    real_->matmul_heads(out, out_stride, x, x_stride, w, rows);
  }
  void choose(std::int32_t* chosen, const kernels::LatentRows& kept,
              const kernels::IndexShape& index, const kernels::ChooseArgs& args,
              std::size_t rows) override {
    step();
    real_->choose(chosen, kept, index, args, rows);
  }
  void latent_attention(kernels::bf16* out, const kernels::LatentRows& kept,
                        const kernels::LatentShape& shape, const kernels::LatentAttentionArgs& args,
                        std::size_t rows) override {
    step();
    real_->latent_attention(out, kept, shape, args, rows);
  }
  void activate(bf16* out, const float* x, std::size_t rows, std::size_t intermediate,
                numerics::Activation activation) override {
    step();
    real_->activate(out, x, rows, intermediate, activation);
  }
  void route(const kernels::Routes& out, const kernels::RouteArgs& args,
             std::size_t rows) override {
    step();
    real_->route(out, args, rows);
  }
  void gather(bf16* out, const bf16* x, const kernels::RoutedRows& routed,
              std::size_t hidden) override {
    step();
    real_->gather(out, x, routed, hidden);
  }
  void matmul_experts(float* out, const bf16* x, const kernels::ExpertMatrices& w,
                      const kernels::RoutedRows& routed) override {
    step();
    real_->matmul_experts(out, x, w, routed);
  }
  void mix(float* out, const float* x, const kernels::RoutedRows& routed,
           std::size_t hidden) override {
    step();
    real_->mix(out, x, routed, hidden);
  }
  std::unique_ptr<kernels::Recording> make_recording() override { return real_->make_recording(); }
  // A step that is done again from its recording calls no operation, so none is counted.
  void repeat(kernels::Recording& recording, std::size_t rows, std::size_t position,
              const std::function<void()>& step) override {
    real_->repeat(recording, rows, position, step);
  }
  void scale_logits(float* logits, std::size_t count, float divisor, float cap) override {
    step();
    real_->scale_logits(logits, count, divisor, cap);
  }
  void top2(std::span<kernels::Top2> out_host, const float* logits,
            std::size_t vocabulary) override {
    step();
    real_->top2(out_host, logits, vocabulary);
  }

 private:
  void step() {
    if (seen_ >= allowed_) throw kernels::BackendError("the backend was told to break");
    ++seen_;
  }

  std::unique_ptr<kernels::Backend> real_;
  std::size_t seen_ = 0;
  std::size_t allowed_ = kAll;
};

}  // namespace engine::runtime::testing
