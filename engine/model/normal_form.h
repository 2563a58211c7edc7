// Unicode's normalisation forms. Internal.
#pragma once

#include <string>
#include <string_view>

namespace engine::model {

struct NormalForm {
  bool compose;        // NFC and NFKC, else NFD and NFKD
  bool compatibility;  // NFKC and NFKD
};

// The text in that form, by utf8proc's tables as far as the library knows them. O(n log n).
// REQUIRES: valid UTF-8.
std::string to_normal_form(std::string_view text, NormalForm form);

}  // namespace engine::model
