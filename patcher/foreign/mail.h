#pragma once

#include <string>
#include <string_view>

namespace patcher {

// A patch mail as `git format-patch` writes it, taken apart: what it says, and its diff. The
// description ends at the first line `---`; what looks like a diff before it is prose. Text that is
// no mail is all diff, and what precedes its first file is its description.
//
// Mails whose lines end in CRLF, quoted-printable, base64 and flowed bodies and encoded subjects
// are read. What the mail says becomes UTF-8; its diff keeps its bytes, as with `git am`, and is an
// error where it has letters in another charset. So are an unknown charset, bytes that are none of
// it, and a mail of several parts.
struct Mail {
  std::string subject = {};  // without "[PATCH 1/2]"; empty when there is none
  std::string body = {};     // the description
  std::string diff = {};     // from the first file on
  int diff_line = 1;         // the diff's first line in `text`, from 1; approximate once decoded
  bool unruled = false;      // a mail without the line `---`: its message may hold a diff, too
  std::string error = {};    // not empty: why it cannot be read
  int error_line = 1;
};

Mail read_mail(std::string_view text);

// Whether the text begins as a mail does: with header lines, From and Subject among them.
bool is_mail(std::string_view text);

}  // namespace patcher
