#pragma once

#include <string>
#include <vector>

#include "patcher/patch/patch.h"

namespace patcher {

// What a patch must hold beyond its grammar, so that a patch that could never be judged fairly
// fails before any tree is read.
struct Fault {
  int line = 0;  // in the patch file
  std::string message = {};
  Verdict verdict = Verdict::kMalformed;
};

// A hunk has an anchor, changes something, frames what it only removes, and skips between anchor
// lines.
std::vector<Fault> hunk_faults(const Hunk& hunk);
// A patch does something, and names each path for one purpose only.
std::vector<Fault> patch_faults(const Patch& patch);

}  // namespace patcher
