#include "patcher/carry/carry_moved.h"

#include <fmt/format.h>

#include <algorithm>

#include "patcher/carry/carry_file.h"
#include "patcher/carry/enclosing_definition.h"
#include "patcher/carry/moved_definitions.h"

namespace patcher {
namespace {

class MoveCarrier {
 public:
  MoveCarrier(const Source& before, const Source& after, const FileMap& base, const FileMap& tree)
      : before_(before),
        after_(after),
        base_(base),
        tree_(tree),
        here_(tree.get(before.path())),
        blocks_(change_blocks(before.bytes(), after.bytes())) {}

  MovedChange run() {
    for (const Source* source : {&before_, &after_, here_.source.get()}) {
      if (source != nullptr && !source->unreadable().empty()) return {};
    }
    for (const ChangeBlock& block : blocks_)
      holders_.push_back(holder_of(before_, block));
    seek();
    const bool all_found =
        !sought_.empty() && std::all_of(sought_.begin(), sought_.end(),
                                        [](const auto& s) { return s.found.size() == 1; });
    if (all_found && assign()) carry();
    if (out_.failure) out_.files.clear();
    return std::move(out_);
  }

 private:
  // The definitions that are not in their file any more.
  void seek() {
    for (const Scope* holder : holders_) {
      const bool known = std::any_of(sought_.begin(), sought_.end(),
                                     [&](const auto& s) { return s.scope == holder; });
      if (holder != nullptr && !known && !is_here(*holder)) sought_.push_back({.scope = holder});
    }
    if (sought_.empty()) return;
    find_moved(sought_, before_.path(), base_, tree_);
    for (const SoughtDefinition& s : sought_)
      tell(s);
  }

  bool is_here(const Scope& scope) const {
    if (!here_.exists()) return false;
    const auto& there = here_.source->scopes();
    const bool shared = same_definitions(before_.scopes(), scope, false).size() > 1 ||
                        same_definitions(there, scope, false).size() > 1;
    return !same_definitions(there, scope, shared).empty();
  }

  void tell(const SoughtDefinition& s) {
    if (s.found.size() == 1) {
      out_.where.push_back(
          fmt::format("`{}` is defined in {} now", s.scope->display(), shown(s.found.front())));
    } else if (!s.found.empty()) {
      std::string places;
      for (const Place& place : s.found)
        places += (places.empty() ? "" : ", ") + shown(place);
      out_.where.push_back(fmt::format("`{}` is defined {} times elsewhere now: {}",
                                       s.scope->display(), s.found.size(), places));
    }
  }

  // Where each block goes; not possible where a block outside of definitions could go to several.
  bool assign() {
    for (const Scope* holder : holders_) {
      const auto s = std::find_if(sought_.begin(), sought_.end(),
                                  [&](const auto& one) { return one.scope == holder; });
      goes_.push_back(holder == nullptr    ? ""
                      : s == sought_.end() ? before_.path()
                                           : s->found.front().file);
      if (holder != nullptr) targets_.push_back(goes_.back());
    }
    std::sort(targets_.begin(), targets_.end());
    targets_.erase(std::unique(targets_.begin(), targets_.end()), targets_.end());
    for (size_t i = 0; i < blocks_.size(); ++i) {
      if (holders_[i] == nullptr && targets_.size() > 1) return refuse_outside(blocks_[i]);
      if (holders_[i] == nullptr) goes_[i] = targets_.front();
    }
    return true;
  }

  bool refuse_outside(const ChangeBlock& block) {
    out_.failure = Finding::of(Verdict::kAmbiguous, {},
                               fmt::format("what changes at line {} of the old base is outside of "
                                           "any definition, and the others go to several files",
                                           block.before_begin + 1),
                               {.file = before_.path()});
    return false;
  }

  void carry() {
    for (const std::string& path : targets_) {
      const FileState target = tree_.get(path);
      CarriedFile carried = carry_file(before_, part_for(path), *target.source);
      if (carried.failure) {
        out_.failure = std::move(carried.failure);
        if (out_.failure->place.file.empty()) out_.failure->place.file = path;
        return;
      }
      out_.files[path] = std::move(carried.bytes);
      for (Finding& note : carried.notes)
        out_.notes.push_back(std::move(note));
    }
    for (const SoughtDefinition& s : sought_) {
      out_.notes.push_back(Finding::of(
          Verdict::kApplies, {},
          fmt::format("`{}` was in {} in the old base", s.scope->display(), before_.path()),
          s.found.front()));
    }
  }

  // The base with those blocks alone that go there.
  std::string part_for(const std::string& path) const {
    std::vector<ByteEdit> edits;
    for (size_t i = 0; i < blocks_.size(); ++i) {
      if (goes_[i] != path) continue;
      const ChangeBlock& b = blocks_[i];
      const auto [begin, end] = bytes_of(before_, b.before_begin, b.before_end);
      const auto [first, last] = bytes_of(after_, b.after_begin, b.after_end);
      edits.push_back({begin, end, after_.bytes().substr(first, last - first)});
    }
    return edits.size() == blocks_.size() ? after_.bytes() : apply_edits(before_.bytes(), edits);
  }

  static std::pair<uint32_t, uint32_t> bytes_of(const Source& source, size_t first, size_t last) {
    const Lines& lines = source.lines();
    const auto at = [&](size_t line) {
      return line < lines.count() ? lines.begin(line)
                                  : static_cast<uint32_t>(source.bytes().size());
    };
    return {at(first), at(last)};
  }

  const Source& before_;
  const Source& after_;
  const FileMap& base_;
  const FileMap& tree_;
  const FileState here_;
  const std::vector<ChangeBlock> blocks_;
  std::vector<const Scope*> holders_;  // of each block
  std::vector<SoughtDefinition> sought_;
  std::vector<std::string> goes_;     // of each block: the path
  std::vector<std::string> targets_;  // each once, sorted
  MovedChange out_;
};

}  // namespace

MovedChange carry_moved(const Source& before, const Source& after, const FileMap& base,
                        const FileMap& tree) {
  return MoveCarrier(before, after, base, tree).run();
}

}  // namespace patcher
