// Digests that tell weights and arithmetic apart. Not for what somebody forges.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace engine::runtime {

class Digest {
 public:
  Digest();
  ~Digest();
  void add(std::span<const std::byte> bytes);
  void add(std::string_view text) { add(std::as_bytes(std::span(text))); }
  void add(std::size_t number) { add(std::as_bytes(std::span(&number, 1))); }
  std::string hex() const;  // XXH3 of 128 bits, 32 digits

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace engine::runtime
