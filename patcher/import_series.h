#pragma once

#include <string>
#include <vector>

#include "patcher/file_map.h"
#include "patcher/import.h"
#include "patcher/unified.h"

namespace patcher {

// What a diff's line numbers say of its base. kStated: it was taken from there, so there it fits at
// the lines that it names, or it is not that base's. kStatedOrOnly: it was kept while its base
// moved on; a file whose hunks do not all fit at their lines gets each where its lines are, if that
// is one place in the file and the places are in order.
enum class LineRule { kStated, kStatedOrOnly };

// Done to its base as a whole, by lines. Adds to `errors` what does not fit.
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
// A patch keeps its file's name, with `.patch` for its extension. Throws BrokenEnvironment when a
// file cannot be read.
SeriesImport import_files(const std::vector<std::string>& files, const FileMap& base);

// Writes the patches, what lies beside them, and a `series` that lists them. Files that are there
// with the same bytes stay as they are; throws BrokenEnvironment, before anything is written, when
// one is there with others.
void write_import(const SeriesImport& series, const std::string& directory);

}  // namespace patcher
