#pragma once

#include <string_view>
#include <vector>

namespace patcher {

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

// Whether the line names its field, as in "Content-Type: text/plain".
bool is_header(std::string_view line);

}  // namespace patcher
