#pragma once

#include <cstddef>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "patcher/hunk/token_index.h"

namespace patcher {

// A stretch of a file's code tokens, [begin, end).
struct Part {
  size_t begin = 0;
  size_t end = 0;

  bool operator==(const Part&) const = default;
};

// To which parts lines belong that are added at the edge of some: how far they are indented, and
// whether the lines before and behind them follow without a blank one.
struct Edge {
  size_t indent = 0;  // columns
  bool before = false;
  bool behind = false;
};

// The columns of a line's indentation.
size_t columns(std::string_view line);

// A file's parts as its indentation and blank lines show them, in any language and where no grammar
// reads it: a line with the deeper ones behind it, with the lines of its head before it and its
// closing bracket (a table's entry, a case, a block, a function, a key), and paragraphs. Borrows
// the index.
class Outline {
 public:
  explicit Outline(const TokenIndex& file);

  // The parts around the tokens [begin, end), or around the place before `begin` if that is empty
  // and `edge` says what is added there, the innermost first; all inside of `within`, which is none
  // of them.
  struct Level {
    Part part = {};
    bool paragraph = false;           // lines between blank ones
    std::vector<Part> siblings = {};  // the others of its kind beside it
  };
  std::vector<Level> around(size_t begin, size_t end, const Edge& edge, Part within) const;
  // What is indented at `begin` as `indent` is at `there` of another file, by the lines around.
  size_t indent_as(size_t begin, size_t indent, const Outline& other, size_t there) const;

 private:
  struct Row {  // a line that has code
    Part tokens = {};
    size_t indent = 0;  // columns
    size_t parent = 0;  // kNone at the outermost level
    bool gap = false;   // a blank line is before it
    bool closes = false;
    bool directive = false;
  };
  static constexpr size_t kNone = static_cast<size_t>(-1);
  void read_rows();
  void find_parents();
  size_t row_of(size_t token) const;
  size_t row_at(size_t begin, size_t end, const Edge& edge) const;
  std::pair<size_t, size_t> indents_around(size_t begin) const;
  bool ends_open(const Row& row) const;
  bool holds_more(size_t row) const;
  Part unit(size_t row) const;
  Part paragraph(size_t row) const;
  std::vector<Part> units_beside(size_t row, const Part& own) const;
  std::vector<Part> paragraphs_beside(size_t row, const Part& own) const;

  const TokenIndex& file_;
  std::vector<Row> rows_;
  std::map<size_t, std::vector<size_t>> children_;  // by parent
};

}  // namespace patcher
