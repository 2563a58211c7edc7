// The page at /: the lane's state, conversations and last requests, and a chat box. It needs
// nothing from anywhere but the lane.
#pragma once

#include <string_view>

namespace engine::lane {

extern const std::string_view kPage;

// What a browser lets the page do.
inline constexpr const char* kPagePolicy =
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; "
    "connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'";

}  // namespace engine::lane
