// The one exception of this room: a model folder, or a file given with it, that cannot be used.
#pragma once

#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>

namespace engine::model {

// what() is "FILE: reason"; the reason names the place in the file, and what was expected and
// found.
struct ModelError : std::runtime_error {
  std::string reason;  // without the file: for who may not know where it lies

  ModelError(const std::filesystem::path& file, std::string_view why);
};

}  // namespace engine::model
