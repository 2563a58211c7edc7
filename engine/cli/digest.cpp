#include "cli/digest.h"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <array>
#include <stdexcept>

namespace engine::cli {

struct Sha256::Context {
  EVP_MD_CTX* evp = EVP_MD_CTX_new();

  ~Context() { EVP_MD_CTX_free(evp); }
};

Sha256::Sha256() : context_(std::make_unique<Context>()) {
  if (context_->evp == nullptr || EVP_DigestInit_ex(context_->evp, EVP_sha256(), nullptr) != 1) {
    throw std::runtime_error("sha256 is not available from the cryptographic library");
  }
}

Sha256::~Sha256() = default;

void Sha256::add(const void* data, std::size_t bytes) {
  if (EVP_DigestUpdate(context_->evp, data, bytes) != 1) throw std::runtime_error("sha256 failed");
}

std::string Sha256::finish() {
  std::array<unsigned char, 32> digest{};
  if (EVP_DigestFinal_ex(context_->evp, digest.data(), nullptr) != 1)
    throw std::runtime_error("sha256 failed");
  std::string hex;
  for (const unsigned char byte : digest)
    hex += fmt::format("{:02x}", byte);
  return hex;
}

std::string reply_digest(const runtime::Engine& engine, std::size_t prompt_tokens,
                         const runtime::Reply& reply) {
  Sha256 sha;
  sha.add<kernels::Token>(reply.tokens);
  for (const std::vector<float>& logits : reply.logits)
    sha.add<float>(logits);
  const std::size_t rows = prompt_tokens + reply.tokens.size() - 1;
  const runtime::State& state = engine.lane().state;
  for (std::size_t position = 0; position < rows; ++position) {
    for (std::size_t layer = 0; layer < engine.lane().network.layers.size(); ++layer) {
      const std::vector<numerics::bf16> row = state.read_row(layer, position);
      sha.add<numerics::bf16>(row);
    }
  }
  return sha.finish();
}

}  // namespace engine::cli
