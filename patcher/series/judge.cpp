#include "patcher/series/judge.h"

#include <fmt/format.h>

#include <algorithm>

#include "patcher/hunk/another_version.h"
#include "patcher/syntax/health.h"

namespace patcher {
namespace {

enum class PartState { kPending, kInPlace, kNeither };

PartState part_state(const TrialPart& forward, const TrialPart& backward) {
  if (forward.done && backward.done) {
    if (!forward.changes) return PartState::kInPlace;
    if (!backward.changes) return PartState::kPending;
    return backward.evidence > forward.evidence ? PartState::kInPlace : PartState::kPending;
  }
  if (forward.done) return PartState::kPending;
  return backward.done ? PartState::kInPlace : PartState::kNeither;
}

std::vector<PartState> part_states(const std::vector<TrialPart>& forward,
                                   const std::vector<TrialPart>& backward) {
  std::vector<PartState> states;
  for (size_t i = 0; i < forward.size(); ++i)
    states.push_back(part_state(forward[i], backward[i]));
  return states;
}

bool all(const std::vector<PartState>& states, PartState wanted) {
  return std::all_of(states.begin(), states.end(), [&](PartState s) { return s == wanted; });
}

bool makes(const Patch& patch, const FileMap& from, const FileMap& result, TrialCache& cache) {
  const auto trial = try_whole(patch, from, ScopeRule::kStrict, cache);
  return trial && trial->after.same_as(result);
}

Finding finding_for(const Patch& patch, Verdict verdict, std::string message) {
  return Finding::of(verdict, at_line(patch.name), std::move(message));
}

struct LineEnds {
  size_t lf = 0;
  size_t crlf = 0;
};

LineEnds count_line_ends(std::string_view bytes) {
  LineEnds n;
  for (size_t i = bytes.find('\n'); i != std::string_view::npos; i = bytes.find('\n', i + 1)) {
    ++(i > 0 && bytes[i - 1] == '\r' ? n.crlf : n.lf);
  }
  return n;
}

// What a person should know of a file that is about to change, though nothing of it refuses the
// patch: line ends of both kinds, other names of the same file, regions that the grammar does not
// understand, and whether the patch lands in one. REQUIRES state.exists().
std::vector<Finding> notes_on(const FileState& state, bool lands_in_damage) {
  const Source& source = *state.source;
  std::vector<Finding> notes;
  const auto note = [&](Place place, std::string message) {
    notes.push_back(Finding::of(Verdict::kApplies, {}, std::move(message), std::move(place)));
  };
  const LineEnds ends = count_line_ends(source.bytes());
  if (ends.lf > 0 && ends.crlf > 0) {
    note({.file = source.path()},
         fmt::format("mixed line ends ({} LF, {} CRLF); new lines end as their neighbours do",
                     ends.lf, ends.crlf));
  }
  if (state.links > 1) {
    note({.file = source.path()},
         fmt::format("the file has {} names; the others keep the old bytes", state.links));
  }
  if (source.is_large()) {
    note({.file = source.path()},
         fmt::format("beyond the parse budget ({}): placed by tokens alone",
                     ParseBudget{}.display()));
  }
  if (!source.unreadable().empty() || source.damage().empty()) return notes;
  const auto& damage = source.damage();
  note(source.place(damage.front().begin),
       fmt::format("parts of the file do not parse, the patch lands {} ({}{})",
                   lands_in_damage ? "there, by tokens and lines alone" : "elsewhere",
                   describe(source, damage.front()), damage.size() > 1 ? ", ..." : ""));
  return notes;
}

class Judge {
 public:
  Judge(const Patch& patch, const FileMap& before, TrialCache& cache)
      : patch_(patch),
        undoing_(reversed(patch)),
        before_(before),
        cache_(cache),
        forward_(try_patch(patch, before, ScopeRule::kStrict, cache)),
        backward_(try_patch(undoing_, before, ScopeRule::kUndo, cache)),
        states_(part_states(forward_.parts, backward_.parts)),
        out_{.after = before} {}

  Judgement run() {
    const auto in_place = std::count(states_.begin(), states_.end(), PartState::kInPlace);
    if (in_place == std::ssize(states_)) {
      in_tree();
    } else if (in_place > 0) {
      partly(static_cast<size_t>(in_place));
    } else if (!forward_.ok()) {
      not_possible();
    } else {
      pending();
    }
    return std::move(out_);
  }

 private:
  void refuse(Finding why) {
    out_.verdict = why.verdict;
    out_.failures.insert(out_.failures.begin(), {.finding = std::move(why)});
  }
  void refuse(Verdict verdict, std::string message) {
    refuse(finding_for(patch_, verdict, std::move(message)));
  }
  void add(const std::vector<TrialFailure>& failures) {
    out_.failures.insert(out_.failures.end(), failures.begin(), failures.end());
  }

  void in_tree() {
    if (backward_.ok() && makes(patch_, backward_.after, before_, cache_)) {
      out_.verdict = Verdict::kAlreadyApplied;
      return;
    }
    refuse(Verdict::kOutdated, "every hunk is in place, but not as this patch would write it");
  }

  void partly(size_t in_place) {
    Finding f = finding_for(
        patch_, Verdict::kOutdated,
        fmt::format("partly applied: {} of {} parts are in place", in_place, states_.size()));
    for (size_t i = 0; i < states_.size(); ++i) {
      const char* state = states_[i] == PartState::kInPlace   ? "in place"
                          : states_[i] == PartState::kPending ? "not applied"
                                                              : "neither there nor possible";
      f.hints.push_back(fmt::format("{}: {}", forward_.parts[i].what, state));
    }
    refuse(std::move(f));
    add(forward_.failures);
  }

  void not_possible() {
    out_.verdict = forward_.failures.front().finding.verdict;
    add(forward_.failures);
    if (out_.verdict != Verdict::kMissing) return;
    uint64_t cells = kMostVersionCells;
    for (const FileChange& change : patch_.changes) {
      const FileState state = before_.get(change.path);
      for (const Hunk& hunk : change.hunks) {
        if (state.exists() && holds_another_version(*state.source, hunk, cells))
          return another(hunk);
      }
    }
  }

  void another(const Hunk& hunk) {
    Finding f = finding_for(patch_, Verdict::kOutdated,
                            "the tree is closer to what the hunk makes than to what it needs");
    f.origin.line = hunk.line;
    f.hints.push_back("another version of the patch may be applied: take that one off first");
    refuse(std::move(f));
  }

  void pending() {
    if (forward_.after.same_as(before_)) {
      return refuse(Verdict::kNoEffect, "the patch changes nothing");
    }
    const Trial undone = try_patch(undoing_, forward_.after, ScopeRule::kUndo, cache_);
    const auto again = try_parts(patch_, forward_.after, ScopeRule::kStrict, cache_);
    const std::vector<PartState> states = part_states(again, undone.parts);
    if (!undone.ok() || !all(states, PartState::kInPlace)) {
      Finding f = finding_for(patch_, Verdict::kAmbiguous,
                              "once applied, the patch could not be told from not applied");
      for (size_t i = 0; i < states.size(); ++i) {
        if (states[i] == PartState::kInPlace) continue;
        f.hints.push_back(fmt::format("{}: give it more context", forward_.parts[i].what));
      }
      refuse(std::move(f));
      return add(undone.failures);
    }
    if (!undone.after.same_as(before_)) {
      if (!makes(patch_, undone.after, forward_.after, cache_)) {
        return refuse(Verdict::kAmbiguous,
                      "once applied and taken off, the patch would not make the same bytes again");
      }
      out_.notes.push_back(finding_for(patch_, Verdict::kApplies,
                                       "the tree formats what is replaced in its own way; revert "
                                       "will restore it as the patch has it"));
    }
    add_file_notes();
    out_.verdict = Verdict::kApplies;
    out_.after = std::move(forward_.after);
  }

  void add_file_notes() {
    std::move(forward_.notes.begin(), forward_.notes.end(), std::back_inserter(out_.notes));
    auto part = forward_.parts.begin() + std::ssize(patch_.operations);
    for (const FileChange& change : patch_.changes) {
      const auto end = part + std::ssize(change.hunks);
      const bool in_damage = std::any_of(part, end, [](const TrialPart& p) { return p.damaged; });
      part = end;
      const FileState state = before_.get(change.path);
      if (!state.exists()) continue;  // an operation of this patch makes it
      for (Finding& note : notes_on(state, in_damage)) {
        note.origin = at_line(patch_.name, change.line);
        out_.notes.push_back(std::move(note));
      }
    }
  }

  const Patch& patch_;
  const Patch undoing_;
  const FileMap& before_;
  TrialCache& cache_;
  Trial forward_;
  Trial backward_;
  std::vector<PartState> states_;
  Judgement out_;
};

}  // namespace

std::optional<FileMap> take_off(const Patch& patch, const FileMap& now, TrialCache& cache) {
  auto backward = try_whole(reversed(patch), now, ScopeRule::kUndo, cache);
  if (!backward) return std::nullopt;
  const auto forward = try_parts(patch, now, ScopeRule::kStrict, cache);
  const bool in_place = all(part_states(forward, backward->parts), PartState::kInPlace);
  if (!in_place || !makes(patch, backward->after, now, cache)) return std::nullopt;
  return std::move(backward->after);
}

std::optional<FileMap> take_off(const Patch& patch, const FileMap& now) {
  TrialCache cache;
  return take_off(patch, now, cache);
}

Judgement judge(const Patch& patch, const FileMap& before, TrialCache& cache) {
  return Judge(patch, before, cache).run();
}

Judgement judge(const Patch& patch, const FileMap& before) {
  TrialCache cache;
  return judge(patch, before, cache);
}

}  // namespace patcher
