// The tiny models of fixtures/: what transformers computes for them, and their folders.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace engine::crosscheck {

// One file of fixtures/; make_fixtures.py says what is in it.
struct Fixture {
  std::string name;
  nlohmann::ordered_json file;

  static Fixture load(const std::filesystem::path& json);
};

// The fixtures' files, in the order of their names. Throws std::runtime_error if there are none.
std::vector<std::filesystem::path> fixture_files();

// Writes a folder as people download it: `config`, the fixture's weights as bf16, and a tokenizer
// of bytes. `centre` is added to the weights of tensors whose name ends with `of`: for tests that
// break a model.
void write_folder(const std::filesystem::path& folder, const Fixture& fixture,
                  const nlohmann::ordered_json& config, const std::string& of = "none",
                  double centre = 0);

}  // namespace engine::crosscheck
