#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace patcher {

// A header's linkage guard,
//
//   #ifdef __cplusplus
//   extern "C" {
//   #endif
//
// and the one that closes it: braces that the grammars see open in one branch and close in another,
// so that all between can become one ERROR. Both are recognised by their three lines and nothing
// looser; what stands between them is then read as if they were not there.
//
// Returns where the middle lines of the guards begin, in order; empty unless they open and close in
// turns.
std::vector<uint32_t> linkage_guards(std::string_view text);

}  // namespace patcher
