#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "patcher/patch/patch.h"
#include "patcher/syntax/source.h"

namespace patcher {

// Design goal: an anchor is found exactly once or not at all. Non-goals: similarity, offsets, fuzz;
// nearest.h says what is similar, for messages only.

// One side of a hunk as text and tokens: context and removed lines (the anchor), or context and
// added lines (what the anchor becomes).
struct Side {
  std::string text = {};                // its lines, each followed by '\n'; skipped lines are empty
  std::vector<Token> tokens = {};       // comments included
  std::vector<size_t> first_line = {};  // of each token: index into Hunk::lines
  std::vector<size_t> last_line = {};
  std::vector<size_t> code = {};        // indices of the tokens that are no comments
  std::vector<size_t> segments = {};    // positions in `code` that follow a `...` (the first is 0)
  std::vector<size_t> skip_lines = {};  // the `...` lines: indices into Hunk::lines

  std::string_view token_text(size_t i) const { return tokens[i].text(text); }
};

Side make_side(const Hunk& hunk, Language language, HunkLine::Kind changed);

// The hunk with every comment or literal that it changes in part written as removed and added as a
// whole, so that each token lies on lines of one kind. A foreign one without the context at its
// begin and end that is no code.
Hunk whole_tokens(const Hunk& hunk, Language language);

// A site: for each position in Side::code the index into Source::code().
struct Match {
  std::vector<uint32_t> code = {};
};

// How tokens are compared: kMacroText finds code in preprocessor lines and the other way round, for
// messages.
enum class Compare { kExact, kMacroText };

inline constexpr size_t kMaxMatches = 64;

// What the searches for one hunk may cost, in tokens looked at: a second or two. Real files take
// less than a hundredth of it; what takes more repeats itself over and over.
inline constexpr uint64_t kMatchSteps = 500'000'000;

// Every site of the anchor in the ranges (overlapping ranges give a site once), in file order; at
// most kMaxMatches. Tokens between two segments are balanced in (), [] and {}, so that `...` never
// leaves its block. REQUIRES a side with code.
//
// Takes what it costs from *steps, if that is given; where 0 is left the search was not finished
// and what it found says nothing.
std::vector<Match> find_matches(const Source& source, const Side& side,
                                const std::vector<CodeRange>& ranges,
                                Compare compare = Compare::kExact, uint64_t* steps = nullptr);

// Byte range of a site.
std::pair<uint32_t, uint32_t> match_bytes(const Source& source, const Match& match);

}  // namespace patcher
