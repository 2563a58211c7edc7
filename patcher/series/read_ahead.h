#pragma once

#include "patcher/series/section_trial.h"
#include "patcher/series/series.h"
#include "patcher/tree/file_map.h"

namespace patcher {

// Both do on all cores what is asked for later, one after the other, and change nothing but the
// time that takes. They throw BrokenEnvironment as FileMap does.

// Reads the files that the series' usable patches name, and parses them: nearly every one is asked
// for its tree.
void read_ahead(const Series& series, const FileMap& files);

// Tries the patches from series.patches[first] on, file by file, as judge() will if each applies:
// what one file becomes does not depend on the others. Where a patch turns out to be refused for
// another file, the later trials of its files were in vain.
TrialCache try_ahead(const Series& series, size_t first, const FileMap& files);

}  // namespace patcher
