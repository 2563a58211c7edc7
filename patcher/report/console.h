#pragma once

#include <initializer_list>
#include <ostream>
#include <string>
#include <string_view>

namespace patcher {

// Where the program's output goes.
struct Terminal {
  bool out_is_terminal = false;
  bool err_is_terminal = false;
  bool no_color = false;  // NO_COLOR is set, or the terminal is a dumb one
};

enum class Style { kPlain, kBold, kError, kRemoved, kAdded, kHeading, kReverse };

// The text with the style's escape sequences around it, as it is. kReverse may stand inside of
// another style.
std::string styled(Style style, std::string_view text);

// A part of a line. The text may be anybody's: the console shows it without control characters.
struct Piece {
  Piece(std::string_view t, Style s = Style::kPlain) : text(t), style(s) {}  // NOLINT: any text
  Piece(const std::string& t) : text(t) {}                                   // NOLINT
  Piece(const char* t) : text(t) {}                                          // NOLINT
  std::string_view text;
  Style style = Style::kPlain;
};

// Standard output and standard error. All that the patcher prints goes through here, and only
// bytes() lets a control character pass.
class Console {
 public:
  Console(std::ostream& out, std::ostream& err, const Terminal& terminal)
      : out_(out), err_(err), terminal_(terminal) {}

  // Whether styles are shown: "always", "never" or "auto", which is on a terminal that wants them.
  void use_color(std::string_view when);
  bool color() const { return color_; }
  // Whether somebody may be looking at standard output, so that a diff's bytes must not reach it.
  bool is_watched() const { return color_ || terminal_.out_is_terminal; }

  void out(std::initializer_list<Piece> line) { write(out_, line); }
  void err(std::initializer_list<Piece> line) { write(err_, line); }
  // Prints several lines on standard output, with their tabs.
  void page(std::string_view text);
  // Prints the text as it is: a file's own format (JSON, a diff for `git apply`), or what was made
  // printable before it was styled().
  void bytes(std::string_view text) { out_ << text; }
  // Shows how far a long run is, where somebody watches; the line goes when all is done.
  void progress(size_t done, size_t total, std::string_view noun);
  // False when some of standard output got lost.
  bool flush() { return static_cast<bool>(out_.flush()); }

 private:
  void write(std::ostream& to, std::initializer_list<Piece> line) const;

  std::ostream& out_;
  std::ostream& err_;
  const Terminal terminal_;
  bool color_ = false;
};

}  // namespace patcher
