#pragma once

#include "patcher/file_map.h"
#include "patcher/series.h"

namespace patcher {

// Reads the files that the series' usable patches name, and parses them on all cores: nearly every
// one is asked for its tree later, one after the other. Changes nothing but the time that takes.
// Throws BrokenEnvironment as FileMap does.
void read_ahead(const Series& series, const FileMap& files);

}  // namespace patcher
