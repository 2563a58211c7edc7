#include "patcher/series/file_notes.h"

#include <fmt/format.h>

#include "patcher/syntax/health.h"

namespace patcher {
namespace {

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

}  // namespace

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

}  // namespace patcher
