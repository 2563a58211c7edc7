// One spelling for JSON that a prompt holds.
#pragma once

#include <string>
#include <string_view>

namespace engine::model {

// The same JSON on one line with a blank after each ',' and ':', as most training data is written.
// Strings and numbers stay as they are. REQUIRES: valid JSON.
std::string spaced_json(std::string_view json);

}  // namespace engine::model
