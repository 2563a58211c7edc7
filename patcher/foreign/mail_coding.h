#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace patcher {

// How a mail spells its bytes and its letters. GMime, the mail library that Debian has, passes on
// what it does not understand with letters lost or replaced (an unknown charset, bytes that are
// none of it), where we owe an error by name, and knows no format=flowed. It would spare some 90
// lines of ours for 13 more packages to build with, and glib, gpgme and a dozen libraries to start
// with.

std::string lower(std::string_view text);

// RFC 2045 bodies; in a header (RFC 2047) `_` is a blank.
std::string quoted_printable(std::string_view text, bool header);
std::string base64(std::string_view text);

// The lines of a `format=flowed` body (RFC 3676) as git reads them: without the blank that was put
// before a line's own, and joined where one ends in a blank, which `delsp` takes away.
std::string unflowed(std::string_view text, bool delsp);

// The text as UTF-8; nothing, and why in `error`, where the charset is unknown or the bytes are
// none of its.
std::optional<std::string> to_utf8(std::string_view text, const std::string& charset,
                                   std::string& error);

// "=?UTF-8?q?Pr=C3=A9fill?= more" -> text. Says in `error` what cannot be read.
std::string decode_words(std::string_view text, std::string& error);

}  // namespace patcher
