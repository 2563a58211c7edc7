#pragma once

#include <string>
#include <string_view>

namespace patcher {

// The length in bytes of the UTF-8 character at the front of a text; 0 when there is none.
// REQUIRES a text that is not empty.
size_t character_length(std::string_view text);

// Whether the character at the front of a text is a control character: of ASCII, U+0080 to U+009F,
// or a byte that is one of the latter where UTF-8 is not understood. REQUIRES as above.
bool is_control(std::string_view text);

// Text of a tree or a patch in one line of a report: every control character is a blank, so that
// none moves the cursor, colours or hides what stands there. Those in `kept` stay.
std::string printable(std::string_view text, std::string_view kept = "");

// How wide text stands on a terminal: a letter of East Asia or an emoji takes two columns, an
// accent that combines with the letter before it none. Bytes that are no UTF-8 count one each.
size_t columns_of(std::string_view text);

// The longest beginning of `text` of at most `columns` columns; whole characters, each with what
// combines with it.
std::string_view cut_to(std::string_view text, size_t columns);

}  // namespace patcher
