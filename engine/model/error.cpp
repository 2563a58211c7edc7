#include "model/error.h"

#include <fmt/format.h>

namespace engine::model {

ModelError::ModelError(const std::filesystem::path& file, std::string_view why)
    : std::runtime_error(fmt::format("{}: {}", file.string(), why)), reason(why) {}

}  // namespace engine::model
