#include "patcher/carry/same_places.h"

#include <fmt/format.h>

#include <algorithm>

#include "patcher/carry/near_twin.h"
#include "patcher/text/line_merge.h"

namespace patcher {
namespace {

// One file of a patch: its change in the base, and what the patch made of the
// target.
class FileComparison {
 public:
  FileComparison(const Source& base, const Source& after, const Source& target,
                 const Source& result, Direction direction)
      : direction_(direction),
        base_(base, numbers_),
        after_(after, numbers_),
        target_(target, numbers_),
        result_(result, numbers_) {}

  std::optional<Finding> run() const {
    const Counterparts kin(base_, target_, direction_);
    const PlaceFinder finder(base_, target_);
    auto there = change_blocks(target_.source().bytes(), result_.source().bytes());
    std::optional<Finding> open;
    for (const ChangeBlock& block :
         change_blocks(base_.source().bytes(), after_.source().bytes())) {
      const auto same = std::find_if(there.begin(), there.end(), [&](const ChangeBlock& other) {
        return change(base_, after_, block) == change(target_, result_, other);
      });
      if (same == there.end()) continue;
      const CarriedPlace place{.begin = target_.at_line(same->before_begin),
                               .end = target_.at_line(same->before_end)};
      there.erase(same);
      Finding unknown;
      const auto in = finder.ranges(block, unknown);
      const CodeRange all_base{0, static_cast<uint32_t>(base_.size())};
      const CodeRange all_target{0, static_cast<uint32_t>(target_.size())};
      const KinshipAnswer answer = kin.check(block, added(block), place, in ? in->base : all_base,
                                             in ? in->target : all_target);
      const bool stands_twice =
          direction_ == Direction::kDone && answer.kinship != Kinship::kRefuted;
      if (const auto twin = stands_twice ? near_twin(base_, after_, target_, block, place)
                                         : std::optional<size_t>()) {
        return twin_finding(base_, target_, block, *twin);
      }
      if (answer.kinship == Kinship::kProven) continue;
      Finding f = stray_finding(base_, target_, block, place, answer);
      if (answer.kinship != Kinship::kOpen) return f;
      if (!open) open = std::move(f);
    }
    return open && !merges() ? open : std::nullopt;
  }

 private:
  using Change = std::pair<std::vector<uint32_t>, std::vector<uint32_t>>;
  static Change change(const TokenIndex& from, const TokenIndex& to, const ChangeBlock& block) {
    return {from.run(from.at_line(block.before_begin), from.at_line(block.before_end)),
            to.run(to.at_line(block.after_begin), to.at_line(block.after_end))};
  }

  // The first line that a block adds and that is not blank.
  std::string_view added(const ChangeBlock& block) const {
    const Lines& lines = after_.source().lines();
    size_t line = block.after_begin;
    while (line < block.after_end && is_blank(lines.text(line)))
      ++line;
    return line < block.after_end ? lines.text(line) : std::string_view();
  }

  bool merges() const {
    const auto merged =
        merge_lines(base_.source().bytes(), after_.source().bytes(), target_.source().bytes());
    return merged && without_blanks(*merged) == without_blanks(result_.source().bytes());
  }

  const Direction direction_;
  TokenNumbers numbers_;
  TokenIndex base_;
  TokenIndex after_;
  TokenIndex target_;
  TokenIndex result_;
};

// The versions of one file, as FileComparison takes them.
struct ComparedFile {
  FileState base;
  FileState after;
  FileState target;
  FileState result;
};

std::optional<Finding> compared(const BaseStep& from, const ComparedFile& file,
                                Direction direction) {
  const auto all = {&file.base, &file.after, &file.target, &file.result};
  if (!std::all_of(all.begin(), all.end(), [](const FileState* s) {
        return s->exists() && s->source->bad_bytes().empty();
      }))
    return std::nullopt;
  if (file.base.source->bytes() == file.target.source->bytes()) return std::nullopt;
  auto found = FileComparison(*file.base.source, *file.after.source, *file.target.source,
                              *file.result.source, direction)
                   .run();
  if (found) found->origin = at_line(from.patch->name);
  return found;
}

}  // namespace

Finding stray_finding(const TokenIndex& base, const TokenIndex& target, const ChangeBlock& block,
                      const CarriedPlace& place, const KinshipAnswer& answer) {
  const TokenIndex& of_rival = answer.rival_in_base ? base : target;
  const auto line = [](const TokenIndex& file, size_t code) {
    return code < file.size() ? file.line_of(code) + 1 : file.source().lines().count();
  };
  Finding f{.verdict = Verdict::kMissing, .place = {.file = target.source().path()}};
  f.origin = at_line(base.source().path(), static_cast<int>(block.before_begin) + 1);
  if (target.size() > 0) {
    const uint32_t byte = target.token(std::min(place.begin, target.size() - 1)).begin;
    f.place = target.source().place(byte);
    f.candidates.push_back(target.source().candidate(byte));
  }
  const bool sure = answer.kinship == Kinship::kRefuted;
  if (answer.rival == KinshipAnswer::kNone) {
    f.message = "what the added lines are the edge of in the old base is not here";
    return f;
  }
  f.message = answer.rival_in_base
                  ? fmt::format(
                        "{} what line {} of the old base has, which looks like what was changed; "
                        "that may be gone",
                        sure ? "this is" : "this may be", line(of_rival, answer.rival))
                  : fmt::format("what was changed {} rather at line {}, which looks alike",
                                sure ? "is" : "may be", line(of_rival, answer.rival));
  return f;
}

Finding twin_finding(const TokenIndex& base, const TokenIndex& target, const ChangeBlock& block,
                     size_t twin) {
  const uint32_t byte = target.token(twin).begin;
  return Finding::of(Verdict::kOutdated,
                     at_line(base.source().path(), static_cast<int>(block.before_begin) + 1),
                     "collision: the tree has the added lines of its own by now, beside the place "
                     "where the patch adds them",
                     target.source().place(byte));
}

std::optional<Finding> strayed(const BaseStep& from, const FileMap& target, const FileMap& result) {
  for (const std::string& path : from.paths) {
    const std::string old_path = from.path_before(path);
    auto found = compared(
        from,
        {from.before.get(old_path), from.after.get(path), target.get(old_path), result.get(path)},
        Direction::kDone);
    if (found) return found;
  }
  return std::nullopt;
}

std::optional<Finding> strayed_in_place(const BaseStep& from, const FileMap& target,
                                        const FileMap& without) {
  for (const std::string& path : from.paths) {
    const std::string old_path = from.path_before(path);
    auto found = compared(
        from,
        {from.after.get(path), from.before.get(old_path), target.get(path), without.get(old_path)},
        Direction::kUndone);
    if (!found) continue;
    found->message = "what the patch makes is there, but: " + found->message;
    return found;
  }
  return std::nullopt;
}

}  // namespace patcher
