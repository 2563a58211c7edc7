#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "patcher/patch/patch.h"

namespace patcher {

// An ordered list of patches.
struct Series {
  std::string file = {};
  std::vector<Patch> patches = {};   // each with what is wrong with it
  std::vector<Finding> errors = {};  // what is wrong with the list itself
};

// The series file: one patch name a line, relative to the file's own directory. Blanks around a
// name, CRLF line ends, empty lines and everything from a `#` at the line's begin or after a blank
// are ignored, and so is a byte order mark. Behind a diff's name may stand, as quilt writes it, how
// many components its names have before the tree's own: -p0, or -p1 or -pab. A name given twice,
// one that is no safe path, one without a file and any other option are errors, and so is an empty
// list unless it is allowed.
struct SeriesLine {
  std::string name = {};
  int line = 0;
  std::string options = {};  // what begins with `-` behind the name
};
std::vector<SeriesLine> parse_series(std::string_view text);

// A patch file, or a diff or mail in its place, has at most so many bytes: it is read whole.
inline constexpr std::uintmax_t kMaxPatchBytes = 16u << 20;
// What is wrong with the size of the file at `path`; empty when nothing is, or there is no file.
std::string size_fault(const std::string& path);

// Reads the list (patch files, and unified diffs or patch mails, see unified.h), its first `until`
// patches and the files beside them. Throws BrokenEnvironment when the series file is not there or
// a file cannot be read; a missing patch file is an error of the series.
Series load_series(const std::string& file, std::optional<size_t> until, bool allow_empty);

}  // namespace patcher
