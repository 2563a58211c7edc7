// Which weights a folder holds.
#pragma once

#include <filesystem>
#include <string>

namespace engine::cli {

// Of every tensor's name, type, shape and bytes, and of config.json, which says what is done with
// them. Reads the whole folder. Throws ModelError.
std::string weights_digest(const std::filesystem::path& folder);

}  // namespace engine::cli
