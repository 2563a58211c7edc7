#pragma once

#include <string>
#include <string_view>
#include <vector>

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

// A part of a file of mails, and its first line there, from 1.
struct MailText {
  std::string_view text = {};
  int line = 1;
};

// The mails of an mbox (`git format-patch --stdout` writes one), each with its `From ` line. As git
// reads it, such a line ends in a time and a year; here a header follows it too, so that a line of
// prose that begins with `From ` splits nothing. What has no such line is one part, and so is what
// stands before the first, if it is more than blanks. A byte order mark is no part of the text.
std::vector<MailText> split_mails(std::string_view text);

}  // namespace patcher
