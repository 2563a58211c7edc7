// Whether text is in Unicode's normalization form C. Internal.
#pragma once

#include <string_view>

namespace engine::model {

// True if no character of `text` can change or move under NFC: none has a decomposition that stays
// decomposed, composes with one before it, or has a combining class. Text for which this is false
// may still be in NFC. Bytes that are no UTF-8 are not looked at.
// Characters are Unicode 14's; later ones are taken as unchanging.
bool is_surely_nfc(std::string_view text);

}  // namespace engine::model
