#pragma once

#include <vector>

#include "patcher/carry/carry_patch.h"
#include "patcher/import/import_series.h"
#include "patcher/series/series.h"

namespace patcher {

// Carries a series from the base that it applies to onto another one. Patch k is carried from the
// result of those before it on the old base to their result on the new one; after a patch that
// needs a person the later ones are still judged, without it.
//
// `errors` gets what keeps the series from applying to its own base, and nothing is carried then.
// REQUIRES series.errors.empty(). Throws BrokenEnvironment when a patch file cannot be read.
std::vector<CarriedPatch> carry_series(const Series& series, const FileMap& base,
                                       const FileMap& onto, MoveRule moves,
                                       std::vector<Finding>& errors);

// The same of a series whose steps are known.
std::vector<CarriedPatch> carry_steps(const std::vector<BaseStep>& steps, const FileMap& onto,
                                      MoveRule moves);

// The new series, for write_import(), without what is obsolete. What needs a person stands in it as
// it was, with a remark in the list: nothing of it is lost, and a check refuses it until somebody
// has mended it.
SeriesImport carried_import(const std::vector<CarriedPatch>& patches);

}  // namespace patcher
