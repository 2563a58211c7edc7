#include "patcher/carry/carry_file.h"

#include <fmt/format.h>

#include <algorithm>

#include "patcher/carry/block_edits.h"
#include "patcher/carry/counterpart.h"
#include "patcher/carry/lost_locals.h"
#include "patcher/carry/lost_names.h"
#include "patcher/carry/merge_witness.h"
#include "patcher/carry/near_twin.h"
#include "patcher/carry/same_places.h"
#include "patcher/hunk/verbatim.h"
#include "patcher/syntax/health.h"
#include "patcher/text/line_merge.h"
#include "patcher/text/lines.h"

namespace patcher {
namespace {

constexpr size_t kAlreadyAround = 8;  // tokens on each side that show an insertion to be there
constexpr size_t kAlreadyMost = 16;   // places that are looked at

class Carrier {
 public:
  Carrier(const Source& base, const std::string& after, const Source& target)
      : base_source_(base),
        after_source_(base.path(), after),
        target_source_(target),
        base_(base, numbers_),
        after_(after_source_, numbers_),
        target_(target, numbers_),
        kin_(base_, target_),
        after_kin_(after_, target_, Direction::kUndone),
        after_lines_(text_lines(after)) {}

  CarriedFile run() {
    for (const Source* source : {&base_source_, &after_source_, &target_source_}) {
      if (!source->unreadable().empty()) refuse(Verdict::kDamagedParse, 0, source->unreadable());
    }
    if (!out_.failure) place_all();
    if (!out_.failure) check_names();
    if (!out_.failure) finish();
    return std::move(out_);
  }

 private:
  void refuse(Verdict verdict, size_t line, std::string message) {
    out_.failure = Finding::of(verdict, at_line(base_source_.path(), static_cast<int>(line)),
                               std::move(message), {.file = target_source_.path()});
  }

  void place_all() {
    PlaceFinder finder(base_, target_);
    const auto blocks = change_blocks(base_source_.bytes(), after_source_.bytes());
    std::vector<size_t> there;  // lines of the blocks that the target has
    for (const ChangeBlock& block : blocks) {
      // First of all: what is added keeps its neighbours apart where it is
      // there.
      Finding failure;
      const auto ranges = finder.ranges(block, failure);
      const There known = ranges ? is_there(block, *ranges) : There::kNo;
      if (known == There::kMaybe || comment_is_there(block)) {
        return refuse(
            Verdict::kOutdated, block.before_begin + 1,
            "the added lines may be there already: something that looks like the place has them");
      }
      if (known == There::kYes) {
        there.push_back(block.before_begin + 1);
        continue;
      }
      auto place = ranges ? finder.find(block, failure) : std::nullopt;
      if (!place) {
        refuse(failure.verdict, block.before_begin + 1, failure.message);
        out_.failure->place = failure.place;
        out_.failure->candidates = std::move(failure.candidates);
      }
      if (!place || !is_kin(block, *place, *ranges)) place = merged_place(block, ranges);
      if (!place && by_comment(block)) continue;
      if (!place) return;
      if (const auto twin = near_twin(base_, after_, target_, block, *place)) {
        if (!open_ && touches(block, *place, *twin)) {
          there.push_back(block.before_begin + 1);
          continue;
        }
        out_.failure = twin_finding(base_, target_, block, *twin);
        return;
      }
      std::string why;
      auto edits = block_edits(base_, target_, after_lines_, block, *place, why);
      if (!edits && by_comment(block)) continue;
      if (!edits) return refuse(Verdict::kMissing, block.before_begin + 1, why);
      note_choice(block, *place);
      std::move(edits->begin(), edits->end(), std::back_inserter(edits_));
    }
    if (there.empty()) return;
    if (there.size() == blocks.size()) {
      return refuse(Verdict::kObsolete, there.front(), "the added lines are there already");
    }
    // Left out as a whole, the rest would be lost.
    refuse(Verdict::kOutdated, there.front(),
           fmt::format("{} of {} changed places are there already", there.size(), blocks.size()));
  }

  // An insertion's neighbours may be there on both sides of it when the target
  // has it already, or when another part has what looks like it.
  enum class There { kNo, kMaybe, kYes };
  There is_there(const ChangeBlock& block, const PlaceFinder::Ranges& in) const {
    if (!block.inserts()) return There::kNo;
    const size_t first = after_.at_line(block.after_begin);
    const size_t last = after_.at_line(block.after_end);
    if (first == last) return There::kNo;
    const size_t begin = first - std::min(first, kAlreadyAround);
    const auto run = after_.run(begin, std::min(last + kAlreadyAround, after_.size()));
    const auto hits = target_.find(run, in.target, kAlreadyMost);
    // What the base has as often is not new.
    const bool fresh = hits.size() > base_.find(run, in.base, kAlreadyMost).size();
    const ChangeBlock undone{.before_begin = block.after_begin,
                             .before_end = block.after_end,
                             .after_begin = block.before_begin,
                             .after_end = block.before_end};
    Finding unknown;
    const auto ranges = PlaceFinder(after_, target_).ranges(undone, unknown);
    There out = There::kNo;
    for (const size_t at : hits) {
      const size_t there = at + (first - begin);
      const CarriedPlace place{.begin = there, .end = there + (last - first)};
      const Kinship kin =
          ranges ? after_kin_.check(undone, "", place, ranges->base, ranges->target).kinship
                 : Kinship::kOpen;
      if (kin == Kinship::kProven) return There::kYes;
      if (kin != Kinship::kRefuted && fresh) out = There::kMaybe;
    }
    return out == There::kMaybe && merged() == target_source_.bytes() ? There::kYes : out;
  }

  std::optional<std::string> merged() const {
    return merge_lines(base_source_.bytes(), after_source_.bytes(), target_source_.bytes());
  }

  // Whether the target's own lines stand right at the place.
  bool touches(const ChangeBlock& block, const CarriedPlace& place, size_t twin) const {
    const size_t size = after_.at_line(block.after_end) - after_.at_line(block.after_begin);
    return twin == place.begin || twin + size == place.begin;
  }

  std::string_view added(const ChangeBlock& block) const {
    for (size_t line = block.after_begin; line < block.after_end; ++line) {
      if (!is_blank(after_lines_[line])) return after_lines_[line];
    }
    return "";
  }

  // Whether the place is that of the block, and not of what looks like it. What
  // only another witness can decide waits for it.
  bool is_kin(const ChangeBlock& block, const CarriedPlace& place, const PlaceFinder::Ranges& in) {
    const KinshipAnswer answer = kin_.check(block, added(block), place, in.base, in.target);
    if (answer.kinship == Kinship::kProven) return true;
    Finding f = stray_finding(base_, target_, block, place, answer);
    if (answer.kinship != Kinship::kOpen) {
      out_.failure = std::move(f);
      return false;
    }
    if (!open_) open_ = std::move(f);
    return true;
  }

  // Where git's merge does a block that has no place by itself, if that is proven to be the
  // block's: two that know nothing of each other say the same.
  std::optional<CarriedPlace> merged_place(const ChangeBlock& block,
                                           const std::optional<PlaceFinder::Ranges>& in) {
    const auto place = witness().place(block);
    if (!place) return std::nullopt;
    const CodeRange all_base{0, static_cast<uint32_t>(base_.size())};
    const CodeRange all_target{0, static_cast<uint32_t>(target_.size())};
    const bool inside = in && in->target.first <= place->begin && place->end <= in->target.second;
    const KinshipAnswer answer =
        kin_.check(block, added(block), *place, inside ? in->base : all_base,
                   inside ? in->target : all_target);
    if (answer.kinship != Kinship::kProven) return std::nullopt;
    out_.failure.reset();
    by_merge_ = true;
    return place;
  }

  bool is_comment(const ChangeBlock& block) const {
    return base_.at_line(block.before_begin) == base_.at_line(block.before_end) &&
           after_.at_line(block.after_begin) == after_.at_line(block.after_end);
  }

  // Does a block that changes comments alone by its lines.
  bool by_comment(const ChangeBlock& block) {
    auto edits = is_comment(block) ? comment_edits(base_, target_, after_lines_, block)
                                   : std::optional<std::vector<ByteEdit>>();
    if (!edits) return false;
    std::move(edits->begin(), edits->end(), std::back_inserter(edits_));
    out_.failure.reset();
    return true;
  }

  // Whether the target has more often than the base what is added to a comment.
  bool comment_is_there(const ChangeBlock& block) const {
    Hunk added;
    size_t said = 0;
    for (size_t line = block.after_begin; line < block.after_end; ++line) {
      const std::string_view text = after_source_.lines().text(line);
      added.lines.push_back({.text = std::string(text)});
      said += letters(text);
    }
    return said > 0 && block.inserts() && is_comment(block) &&
           verbatim_places(target_source_, added).size() >
               verbatim_places(base_source_, added).size();
  }

  const MergeWitness& witness() {
    if (!witness_) witness_.emplace(base_, after_source_.bytes(), target_);
    return *witness_;
  }

  void note_choice(const ChangeBlock& block, const CarriedPlace& place) {
    if (place.choice == CarriedPlace::Choice::kNone || place.begin == 0) return;
    const size_t line = block.before_begin + 1;
    std::string message = place.choice == CarriedPlace::Choice::kOneSided
                              ? fmt::format(
                                    "of the neighbours of the lines added at line {} only one is "
                                    "still there; that they stand beside it was a choice",
                                    line)
                              : fmt::format(
                                    "other lines are between the neighbours of the lines added at "
                                    "line {} now; that they stand at the blank line was a choice",
                                    line);
    const uint32_t byte = target_.token(place.begin - 1).begin;
    out_.notes.push_back(
        Finding::of(Verdict::kApplies, {}, std::move(message), target_source_.place(byte)));
  }

  void check_names() {
    const auto lost = lost_names(base_source_, after_source_, target_source_);
    if (!lost.empty()) lose(lost.front());
  }

  void lose(const LostName& lost) {
    refuse(Verdict::kMissing, after_source_.lines().line_of(lost.byte) + 1, message(lost));
  }

  void finish() {
    const bool ordered =
        std::is_sorted(edits_.begin(), edits_.end(),
                       [](const auto& a, const auto& b) { return a.begin < b.begin; });
    sort_edits(edits_);
    if (const auto at = first_overlap(edits_); at && !(ordered && only_touch())) {
      return refuse(Verdict::kOverlaps, 0, "two changes land on the same lines");
    }
    std::string bytes = apply_edits(target_source_.bytes(), edits_);
    end_as_changed(bytes);
    if (bytes == target_source_.bytes()) {
      return refuse(Verdict::kNoEffect, 0, "the change does nothing there");
    }
    const Source result(target_source_.path(), bytes);
    if (result.unreadable().empty() && parses_worse(target_source_, result) &&
        !parses_worse(base_source_, after_source_)) {
      return refuse(Verdict::kDamagedParse, 0, "the file would parse worse than before");
    }
    const auto lost = lost_locals({base_source_, after_source_, target_source_, result});
    if (!lost.empty()) return lose(lost.front());
    if (open_ && !agrees(bytes)) {
      out_.failure = std::move(open_);
      return;
    }
    if (by_merge_ && !agrees(bytes)) {
      return refuse(Verdict::kAmbiguous, 0, "git's merge of lines does it elsewhere");
    }
    out_.bytes = std::move(bytes);
  }

  // Whether git's merge comes to the same result, but for white space.
  bool agrees(const std::string& bytes) const {
    const auto by_lines = merged();
    return by_lines && without_blanks(*by_lines) == without_blanks(bytes);
  }

  // Whether the last line ends in a newline is a change too, where the target
  // has it as the base.
  void end_as_changed(std::string& bytes) const {
    const bool before = base_source_.bytes().ends_with('\n');
    const bool after = after_source_.bytes().ends_with('\n');
    if (before == after || bytes.ends_with('\n') != before) return;
    bytes = with_last_newline(std::move(bytes), after);
  }

  // Insertions at one place, in the base's order.
  bool only_touch() const {
    for (size_t i = 1; i < edits_.size(); ++i) {
      if (edits_[i].begin < edits_[i - 1].end) return false;
    }
    return true;
  }

  const Source& base_source_;
  const Source after_source_;
  const Source& target_source_;
  TokenNumbers numbers_;
  TokenIndex base_;
  TokenIndex after_;
  TokenIndex target_;
  Counterparts kin_;
  Counterparts after_kin_;
  std::optional<MergeWitness> witness_;
  bool by_merge_ = false;        // a block is where only the merge has it
  std::optional<Finding> open_;  // a place that a second witness must confirm
  std::vector<std::string_view> after_lines_;
  std::vector<ByteEdit> edits_;
  CarriedFile out_;
};

}  // namespace

CarriedFile carry_file(const Source& base, const std::string& after, const Source& target) {
  return Carrier(base, after, target).run();
}

}  // namespace patcher
