// A token's id: a row of the embedding table.
#pragma once

#include <cstdint>

namespace engine::model {

using Token = std::int32_t;

}  // namespace engine::model
