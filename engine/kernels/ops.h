// The only list of operations that the engine runs on a backend.
//
// Each operation is defined down to the order of its roundings, so that every backend writes the
// same bits; the definitions live in engine/numerics and are cited below. Tiling, threads,
// pipelining and launch shapes are the backend's own business.
//
// Letters:  R rows (token positions of one launch)   H hidden size      I intermediate size
//           V vocabulary                             Q query heads      G KV heads
//           D head size                              N, K a matrix product's outputs and inner
//           length
// Layout:   row-major, last index contiguous. Pointers are backend memory unless they say "host".
// Streams:  operations run in call order and may return before they have run; `download` and
//           `synchronize` wait. One thread at a time calls a backend.
// Errors:   a broken device throws BackendError. Shapes are checked where the model is loaded; an
//           operation's REQUIRES are asserted only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <stdexcept>
#include <string_view>

#include "kernels/attention_args.h"
#include "kernels/experts.h"
#include "kernels/latent.h"
#include "numerics/activation.h"

namespace engine::kernels {

using Token = std::int32_t;

struct BackendError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Backend memory, owned; freed on destruction, which must precede the backend's.
class Buffer {
 public:
  virtual ~Buffer() = default;
  virtual std::byte* data() = 0;
  virtual std::size_t size() const = 0;  // bytes
};

// A weight matrix [N, K] in whatever layout the backend multiplies fastest.
class Matrix {
 public:
  virtual ~Matrix() = default;
  virtual std::size_t outputs() const = 0;  // N
  virtual std::size_t inner() const = 0;    // K
};

// Rows [n, K] in host memory; several parts are stacked along N into one Matrix.
struct MatrixPart {
  const bf16* weights;  // host [n, K]
  std::size_t n;
};

// What a backend keeps of a step that is run again and again, so that it begins faster.
class Recording {
 public:
  virtual ~Recording() = default;
};

struct Top2 {
  Token best, second;  // ties go to the lower id; V >= 2
};

// How a backend is made; `row_invariant` alone changes bits.
struct BackendOptions {
  // Worker threads; 0 means one per core. Never changes bits.
  std::size_t threads = 0;
  // Control mode: one K split and one attention order for every row count, so that no row depends
  // on its launch. Shows what batch-invariant kernels cost.
  bool row_invariant = false;
  // May be empty. Called at the end of Backend::prepare with the host memory of each part, which
  // this backend does not read again.
  std::function<void(std::span<const std::byte>)> copied = {};
};

// Tells `copied`, which may be empty, of the parts of a matrix [N, inner].
inline void report_copied(const std::function<void(std::span<const std::byte>)>& copied,
                          std::span<const MatrixPart> parts, std::size_t inner) {
  if (!copied) return;
  for (const MatrixPart& part : parts)
    copied(std::as_bytes(std::span(part.weights, part.n * inner)));
}

class Backend {
 public:
  virtual ~Backend() = default;

  virtual std::string_view name() const = 0;    // "cpu", "cuda"
  virtual std::string_view device() const = 0;  // for people: processor and instruction set, or GPU

  // Memory. `allocate` zero-fills; out of memory throws BackendError with bytes asked and free.
  virtual std::unique_ptr<Buffer> allocate(std::size_t bytes) = 0;
  virtual void upload(void* to, const void* from_host, std::size_t bytes) = 0;
  virtual void download(void* to_host, const void* from, std::size_t bytes) = 0;
  virtual void copy(void* to, const void* from, std::size_t bytes) = 0;
  virtual void synchronize() = 0;

  // Weights. Matrices are copied; the host memory of `place` must outlive the backend's use of it.
  // REQUIRES: inner is a multiple of 16, every part has at least one row.
  virtual std::unique_ptr<Matrix> prepare(std::span<const MatrixPart> parts, std::size_t inner) = 0;
  // The same for `experts` matrices, one after another: each has as many of the parts, and rows.
  virtual std::unique_ptr<ExpertMatrices> prepare_experts(std::span<const MatrixPart> parts,
                                                          std::size_t inner,
                                                          std::size_t experts) = 0;
  // Norm weights, biases and the embedding table, which are read element by element.
  virtual const bf16* place(const bf16* host, std::size_t count) = 0;

  // out[r, :] = float(table[tokens[r], :]) * scale.  REQUIRES: 0 <= tokens[r] < V.
  virtual void embed(float* out, const bf16* table, std::span<const Token> tokens,
                     std::size_t hidden, float scale) = 0;

  // out[r] = bf16(norm(x[r])). Row r of `out` begins at out + r * out_stride (elements).
  // REQUIRES: hidden % 16 == 0.
  virtual void norm(bf16* out, std::size_t out_stride, const float* x, const Norm& norm,
                    std::size_t rows, std::size_t hidden) = 0;

  // x[r, i] = fma(norm(branch[r])[i], scale, x[r, i]): what a layer's half adds to the stream.
  virtual void add(float* x, const float* branch, const Norm& norm, float scale, std::size_t rows,
                   std::size_t hidden) = 0;

  // out[R, N] = x[R, K] * w^T (+ bias[n], if not null) (+ out, if accumulate), by fused16 chains in
  // split_k(rows, N, K) slices (numerics/split_k.h); slices, bias and old value are added in that
  // order.
  virtual void matmul(float* out, const bf16* x, const Matrix& w, const bf16* bias,
                      std::size_t rows, bool accumulate) = 0;

  // Norm and rotary on queries and keys; writes query [R, Q, D] and the K and V rows of
  // positions [position, position + R), all rounded to bf16.
  virtual void write_qkv(bf16* query, const KvRows& kv, const HeadShape& heads, const QkvArgs& args,
                         std::size_t rows) = 0;

  // out[R, Q, D]: softmax(scores(q k^T)) v over the keys that AttentionArgs names.
  virtual void attention(bf16* out, const KvRows& kv, const HeadShape& heads,
                         const AttentionArgs& args, std::size_t rows) = 0;

  // Latent and sparse attention (latent.h, numerics/latent.h, numerics/index.h).
  // Norms and rotary of what a layer's first product gives; writes the low-rank queries and index
  // weights of the launch, and the kept rows of positions [position, position + R).
  virtual void write_latent(const LowQueries& out, const LatentRows& kept, const LatentShape& shape,
                            const IndexShape& index, const WriteLatentArgs& args,
                            std::size_t rows) = 0;

  // Cuts the queries' product into its parts, the rotated ones rotated, all rounded to bf16.
  virtual void write_latent_queries(const LatentQueries& out, const LatentShape& shape,
                                    const IndexShape& index, const LatentQueriesArgs& args,
                                    std::size_t rows) = 0;

  // out[r, h] = bf16(x[r, h] * w_h^T) for w of Q matrices [N, K], one fused chain over K each. The
  // part of head h of row r begins at out + (r Q + h) * out_stride, at x + (r Q + h) * x_stride.
  // REQUIRES: x is aligned to 16 bytes and x_stride is a multiple of 8.
  virtual void matmul_heads(bf16* out, std::size_t out_stride, const bf16* x, std::size_t x_stride,
                            const ExpertMatrices& w, std::size_t rows) = 0;

  // chosen[R, S]: the positions of each row's set, ascending, by the kept index keys.
  virtual void choose(std::int32_t* chosen, const LatentRows& kept, const IndexShape& index,
                      const ChooseArgs& args, std::size_t rows) = 0;

  // out[R, Q, C]: softmax(scores(q k^T)) c over the keys that LatentAttentionArgs names.
  virtual void latent_attention(bf16* out, const LatentRows& kept, const LatentShape& shape,
                                const LatentAttentionArgs& args, std::size_t rows) = 0;

  // out[r, i] = bf16(activate(x[r, i], x[r, I + i])), or of x[r, i] alone without a gate
  // (numerics/activation.h).
  virtual void activate(bf16* out, const float* x, std::size_t rows, std::size_t intermediate,
                        numerics::Activation activation) = 0;

  // `activate` of what matmul gives for w [2 I or I, K]; `projected` [R, 2 I or I] may hold it
  // meanwhile or not.
  virtual void matmul_activate(bf16* out, float* projected, const bf16* x, const Matrix& w,
                               const bf16* bias, std::size_t rows,
                               numerics::Activation activation) {
    const bool gated = activation != numerics::Activation::kGelu;
    matmul(projected, x, w, bias, rows, false);
    activate(out, projected, rows, gated ? w.outputs() / 2 : w.outputs(), activation);
  }

  // The experts of each row, their weights, and the places of the pairs (experts.h).
  virtual void route(const Routes& out, const RouteArgs& args, std::size_t rows) = 0;

  // out[P, H]: at each place its row of x[R, H].
  virtual void gather(bf16* out, const bf16* x, const RoutedRows& routed, std::size_t hidden) = 0;

  // out[P, N] = x[P, K] * w^T, at each place by the matrix of its expert, by fused16 chains in
  // split_k(R, N, K) slices: as many as if all rows went to each expert.
  virtual void matmul_experts(float* out, const bf16* x, const ExpertMatrices& w,
                              const RoutedRows& routed) = 0;

  // out[r, i] = fma(weight, x[place, i], ...) from +0 over row r's experts in ascending order, for
  // x[P, H].
  virtual void mix(float* out, const float* x, const RoutedRows& routed, std::size_t hidden) = 0;

  // Each logit x becomes x / divisor, and then soft_cap(x, cap) unless cap is 0.
  virtual void scale_logits(float* logits, std::size_t count, float divisor, float cap) = 0;

  // Runs `step`, which calls operations of this backend, or does again what it did before instead
  // of calling it; the same bits either way. The recording must not outlive the backend.
  // REQUIRES: for one recording and `rows`, every step calls the same operations with the same
  // arguments, except that positions differ by as much as `position`; R is `rows`, and
  // AttentionArgs::first is 0.
  virtual std::unique_ptr<Recording> make_recording() { return std::make_unique<Recording>(); }
  virtual void repeat(Recording&, std::size_t /*rows*/, std::size_t /*position*/,
                      const std::function<void()>& step) {
    step();
  }

  // The two largest of each row of logits [R, V], to host memory; waits for the result.
  virtual void top2(std::span<Top2> out_host, const float* logits, std::size_t vocabulary) = 0;
};

// Throws BackendError if the machine has no such backend. Names: "cpu", "cuda", "auto" (cuda where
// a device is there, else cpu).
std::unique_ptr<Backend> make_backend(std::string_view name, const BackendOptions& options);

}  // namespace engine::kernels
