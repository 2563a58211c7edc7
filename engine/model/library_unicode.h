// What Hugging Face's library does not know of Unicode: its normaliser has the tables of version 9,
// its Punctuation those of version 8. Ids are the library's only if they come of the same tables.
// Made by tests/model/agreement/unicode.py. Internal.
#pragma once

namespace engine::model {

// To the normaliser this is a character without a decomposition, class or composition, whatever
// later versions say.
bool is_later_than_normalizer(char32_t point);

// General category P only since a later version.
bool is_later_than_punctuation(char32_t point);

}  // namespace engine::model
