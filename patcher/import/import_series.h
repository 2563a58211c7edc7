#pragma once

#include <string>
#include <vector>

#include "patcher/foreign/redo_hunks.h"
#include "patcher/foreign/unified.h"
#include "patcher/import/import.h"
#include "patcher/tree/file_map.h"

namespace patcher {

// The versions of the files of a diff, before and after it: its hunks are done to the base by
// lines, as `rule` says. A file that does not fit is left out, and `errors` says why.
std::vector<FileVersions> versions_of(const UnifiedPatch& patch, const std::string& name,
                                      const FileMap& base, std::vector<Finding>& errors,
                                      LineRule rule = LineRule::kStated);

// The tree with that version of the file.
void put_version(const FileVersions& v, FileMap& tree);

struct SeriesImport {
  struct Item {
    std::string name = {};  // of the patch file
    Imported imported = {};
    std::string remark = {};  // a comment behind its name in the list
  };
  std::vector<Item> patches = {};
  std::vector<Finding> errors = {};  // of all of them; a series is imported as a whole or not
};

// Diffs and mails, in order, as anchored patches; each is taken from the result of those before it.
// A patch keeps its file's name, with `.patch` for its extension; of several mails in one file each
// is a patch, numbered and named by its subject as `git format-patch` would. Two patches of one
// name are an error. Throws BrokenEnvironment when a file cannot be read.
SeriesImport import_files(const std::vector<std::string>& files, const FileMap& base);

// Writes the patches, what lies beside them, and a `series` that lists them. Files that are there
// with the same bytes stay as they are; throws BrokenEnvironment, before anything is written, when
// one is there with others.
void write_import(const SeriesImport& series, const std::string& directory);

}  // namespace patcher
