// Regular expressions on text, by PCRE2. Internal.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "model/error.h"

struct pcre2_real_code_8;

namespace engine::model {

// Bytes [begin, end) of a text.
struct Range {
  std::size_t begin, end;
};

// Const after construction; any thread may call it.
class Regex {
 public:
  // A pattern in PCRE2's notation. Throws ModelError if it does not compile; `place` is where it
  // stands in `file`.
  Regex(std::string_view pattern, const std::filesystem::path& file, std::string_view place);

  // The leftmost match, then the leftmost one after it, and so on. An empty match right behind a
  // match does not count; other empty matches do.
  // REQUIRES: valid UTF-8. Throws ModelError if the match limit, which grows with the text, is
  // exceeded.
  std::vector<Range> matches(std::string_view text) const;

 private:
  struct FreeCode {
    void operator()(pcre2_real_code_8* code) const;
  };

  std::filesystem::path file_;
  std::string place_;
  std::unique_ptr<pcre2_real_code_8, FreeCode> code_;
};

}  // namespace engine::model
