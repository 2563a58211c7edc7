#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "patcher/carry/carry_place.h"
#include "patcher/text/edit.h"
#include "patcher/text/indentation.h"

namespace patcher {

// Writes blocks of changed lines at their places in the target.
class BlockEditor {
 public:
  BlockEditor(const TokenIndex& base, const TokenIndex& target,
              const std::vector<std::string_view>& after_lines);

  // The edit, or why the lines at the place cannot become the block's.
  std::optional<ByteEdit> edit(const ChangeBlock& block, const CarriedPlace& place,
                               std::string& why) const;

 private:
  struct Span {
    size_t first = 0;  // code tokens in the base
    size_t last = 0;
  };
  std::optional<ByteEdit> insert(const ChangeBlock& block, const Span& span,
                                 const CarriedPlace& place, std::string& why) const;
  std::optional<ByteEdit> insert_inline(const ChangeBlock& block, const CarriedPlace& place,
                                        std::string& why) const;
  std::optional<ByteEdit> replace_lines(const ChangeBlock& block, const Span& span,
                                        const CarriedPlace& place, std::string& why) const;
  std::optional<ByteEdit> replace_tokens(const ChangeBlock& block, const Span& span,
                                         const CarriedPlace& place, std::string& why) const;
  std::optional<ByteEdit> replace_comments(const ChangeBlock& block, const CarriedPlace& place,
                                           std::string& why) const;

  std::vector<std::string> new_lines(const ChangeBlock& block, const Reindent& shift) const;
  ByteEdit over_lines(size_t first, size_t last, const std::vector<std::string>& lines) const;
  Reindent shift_at(const Span& span, const CarriedPlace& place, const ChangeBlock& block) const;
  std::pair<size_t, size_t> gap(const CarriedPlace& place) const;
  std::string packed(const TokenIndex& file, size_t first_line, size_t last_line) const;
  std::string line_end(size_t line) const;

  const TokenIndex& base_;
  const TokenIndex& target_;
  const std::vector<std::string_view>& after_lines_;
  IndentStyle base_style_;
  IndentStyle target_style_;
};

}  // namespace patcher
