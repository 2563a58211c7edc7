// Small conversations to park, without an engine.
#pragma once

#include <cstring>
#include <fstream>
#include <iterator>
#include <vector>

#include "numerics/philox.h"
#include "runtime/parked_store.h"

namespace engine::runtime::testing {

inline const std::vector<std::size_t> kRowBytes{6, 10};

inline ParkedKind kind_of_test() {
  return {.weights = std::string(32, 'a'),
          .numerics = std::string(32, 'b'),
          .prompt_rows = 4,
          .row_bytes = kRowBytes};
}

inline std::vector<kernels::Token> counted_tokens(std::size_t count, kernels::Token first = 0) {
  std::vector<kernels::Token> tokens(count);
  for (std::size_t i = 0; i < count; ++i)
    tokens[i] = first + static_cast<kernels::Token>(i);
  return tokens;
}

inline std::unique_ptr<HeldRows> memory_for(std::size_t rows, const ParkedKind& kind) {
  return std::make_shared<RowArena>("cpu", kind.row_bytes, rows)->take(rows);
}

// Fills all tensors with bytes that `seed` chooses.
inline void fill(const HeldRows& rows, std::uint64_t seed) {
  std::uint64_t count = 0;
  for (std::size_t tensor = 0; tensor < rows.row_bytes().size(); ++tensor)
    rows.for_each_piece(tensor, 0, rows.rows(),
                        [&](std::size_t, std::byte* memory, std::size_t number) {
                          for (std::size_t i = 0; i < number * rows.row_bytes()[tensor]; ++i)
                            memory[i] = static_cast<std::byte>(numerics::philox(seed, count++)[0]);
                        });
}

// All bytes in the order of positions.
inline std::vector<std::byte> bytes_of(const HeldRows& rows) {
  std::vector<std::byte> bytes;
  for (std::size_t tensor = 0; tensor < rows.row_bytes().size(); ++tensor)
    rows.for_each_piece(
        tensor, 0, rows.rows(), [&](std::size_t, std::byte* memory, std::size_t number) {
          bytes.insert(bytes.end(), memory, memory + number * rows.row_bytes()[tensor]);
        });
  return bytes;
}

inline ParkedRows parked_rows(std::vector<kernels::Token> tokens, std::unique_ptr<HeldRows> memory,
                              std::uint64_t seed = 1) {
  fill(*memory, seed);
  return {std::move(tokens), std::move(memory), std::vector<std::byte>(13, std::byte{7})};
}

inline std::vector<char> file_bytes(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline void write_file(const std::filesystem::path& path, const std::vector<char>& bytes) {
  std::ofstream(path, std::ios::binary)
      .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

}  // namespace engine::runtime::testing
