#include "patcher/report/console.h"

#include <fmt/format.h>

#include "patcher/text/printable.h"

namespace patcher {
namespace {

const char* code_of(Style style) {
  switch (style) {
    case Style::kBold:
      return "1";
    case Style::kError:
      return "1;31";
    case Style::kRemoved:
      return "31";
    case Style::kAdded:
      return "32";
    case Style::kHeading:
      return "36";
    case Style::kReverse:
      return "7";
    case Style::kPlain:
      break;
  }
  return "0";
}

}  // namespace

std::string styled(Style style, std::string_view text) {
  if (style == Style::kPlain) return std::string(text);
  return fmt::format("\x1b[{}m{}\x1b[{}m", code_of(style), text,
                     style == Style::kReverse ? "27" : "0");
}

void Console::use_color(std::string_view when) {
  const bool both = terminal_.out_is_terminal && terminal_.err_is_terminal;
  color_ = when == "always" || (when == "auto" && both && !terminal_.no_color);
}

void Console::page(std::string_view text) {
  out_ << printable(text, "\n\t");
}

void Console::progress(size_t done, size_t total, std::string_view noun) {
  if (!terminal_.out_is_terminal || !terminal_.err_is_terminal) return;
  err_ << fmt::format("\r{}/{} {}\x1b[K{}", done, total, noun, done == total ? "\r\x1b[K" : "");
  err_.flush();
}

void Console::write(std::ostream& to, std::initializer_list<Piece> line) const {
  for (const Piece& piece : line) {
    const std::string text = printable(piece.text);
    to << (color_ ? styled(piece.style, text) : text);
  }
  to << "\n";
}

}  // namespace patcher
