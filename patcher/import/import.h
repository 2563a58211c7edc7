#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "patcher/base/verdict.h"

namespace patcher {

// One file of a change, as it was and as it became.
struct FileVersions {
  std::string path_before = {};  // empty: the change makes the file
  std::string path_after = {};   // empty: the change deletes it
  std::string before = {};       // its bytes
  std::string after = {};
  mode_t mode_before = 0644;  // only whether it is executable counts; a link or a submodule
  mode_t mode_after = 0644;   // (S_IFMT is set and is no S_IFREG) is refused by name
};

// A whole change: what a commit or a mail holds.
struct SourceChange {
  std::string name = {};  // of the patch file to write: "0001-prefill-offset.patch"
  std::string subject = {};
  std::string why = {};  // the subject stands in where there is none
  std::vector<FileVersions> files = {};
};

// A file that lies beside the patch: what an `install:` adds or a `delete:` takes away.
struct BesideFile {
  std::string name = {};  // relative to the patch file
  std::string bytes = {};
  bool executable = false;
};

struct Imported {
  std::string text = {};  // the patch file's text; empty after an error
  std::vector<BesideFile> beside = {};
  std::string options = {};    // behind its name in the series: a diff's -p0 or -p1
  std::string kept_diff = {};  // not empty: the text is a diff, and why it has no anchors
  std::vector<Finding> errors = {};
};

// The anchored patch that makes this change. Each hunk names the innermost scope that holds it and
// has the smallest anchor that is there once in that scope; where scope, context and #if state
// cannot tell copies apart it states the occurrence (`2 of 3`). The same change gives the same
// bytes each time.
//
// The result is proven before it is given: on the versions before, it applies and makes exactly the
// versions after. A change that no anchored patch makes so is kept as a diff where that is proven,
// and undoes as well. What cannot be expressed at all, binary files, links and unsafe paths are
// errors.
Imported import_change(const SourceChange& change);

// A name for a patch file from its number and subject: "0003-keep-the-rows.patch".
std::string patch_file_name(size_t number, const std::string& subject);

}  // namespace patcher
