#pragma once

#include <string_view>

namespace patcher {

// How wide text stands on a terminal: a letter of East Asia or an emoji takes two columns, an
// accent that combines with the letter before it none. By the C library's table in its own C.UTF-8
// locale, never the user's; a system without that locale counts a code point as one column. Bytes
// that are no UTF-8 and characters that cannot be printed count one each.
size_t columns_of(std::string_view text);

// The longest beginning of `text` of at most `columns` columns; whole characters, each with what
// combines with it.
std::string_view cut_to(std::string_view text, size_t columns);

}  // namespace patcher
