// The notation of tokenizer.json's regular expressions: Oniguruma's, with Ruby's syntax. Internal.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "model/error.h"

namespace engine::model {

// The same pattern in PCRE2's notation, for a Regex. What means something else to the two is
// rewritten: \s, \w, \h and what they exclude. Throws ModelError for what cannot be: options but
// for i and x, a set inside of a set, sets that intersect, and a repeated count such as {1,3}+.
std::string from_oniguruma(std::string_view pattern, const std::filesystem::path& file,
                           std::string_view place);

}  // namespace engine::model
