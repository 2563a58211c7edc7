#pragma once

#include <string>

#include "patcher/git/repository.h"
#include "patcher/import/import_series.h"

namespace patcher {

// The changes that commits made, as anchored patches: of one commit (`REV`), or of every commit
// along B's first parents that A does not have (`A..B`), oldest first. A commit's change is that
// from its first parent, so that a merge is what it brought. Its first line is the Subject and the
// rest of its message the Why. A file outside of the repository's prefix, a link and a submodule
// are errors by name. Throws BrokenEnvironment when `spec` names no commits.
SeriesImport import_commits(const Repository& repository, const std::string& spec);

}  // namespace patcher
