#pragma once

#include "patcher/series/judge.h"
#include "patcher/series/series.h"
#include "patcher/tree/file_map.h"

namespace patcher {

// Both do on all cores what is asked for later, one after the other, and change nothing but the
// time that takes. They throw BrokenEnvironment as FileMap does.

// Reads the files that the series' usable patches name, and parses them: nearly every one is asked
// for its tree.
void read_ahead(const Series& series, const FileMap& files);

// Judges each file's part of the patches from series.patches[first] on, one after the other, and
// keeps the trials: judge() of the whole patches then finds them made. What one file becomes does
// not depend on the others; where a patch turns out to be refused for another file, the later
// trials of its files were in vain.
void try_ahead(const Series& series, size_t first, const FileMap& files, TrialCache& cache);

}  // namespace patcher
