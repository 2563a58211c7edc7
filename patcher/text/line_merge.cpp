#include "patcher/text/line_merge.h"

#include <git2.h>

#include "patcher/base/libgit2.h"

namespace patcher {

std::optional<std::string> merge_lines(const std::string& base, const std::string& ours,
                                       const std::string& theirs) {
  start_libgit2();
  const auto input = [](const std::string& text) {
    git_merge_file_input in = GIT_MERGE_FILE_INPUT_INIT;
    in.ptr = text.data();
    in.size = text.size();
    return in;
  };
  const git_merge_file_input from = input(base);
  const git_merge_file_input a = input(ours);
  const git_merge_file_input b = input(theirs);
  git_merge_file_result merged = {};
  if (git_merge_file(&merged, &from, &a, &b, nullptr) < 0) return std::nullopt;
  std::optional<std::string> out;
  if (merged.automergeable != 0) out.emplace(merged.ptr, merged.len);
  git_merge_file_result_free(&merged);
  return out;
}

}  // namespace patcher
