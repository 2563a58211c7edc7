#include "model/error.h"

#include <fmt/format.h>

namespace engine::model {

ModelError::ModelError(const std::filesystem::path& file, std::string_view reason)
    : std::runtime_error(fmt::format("{}: {}", file.string(), reason)) {}

}  // namespace engine::model
