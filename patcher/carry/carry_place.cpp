#include "patcher/carry/carry_place.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "patcher/carry/enclosing_definition.h"
#include "patcher/hunk/nearest.h"

namespace patcher {
namespace {

using Reach = std::pair<size_t, size_t>;  // tokens before the block and behind it

constexpr std::array kReaches = {Reach{16, 16}, Reach{8, 8},  Reach{24, 0}, Reach{0, 24},
                                 Reach{12, 0},  Reach{0, 12}, Reach{12, 4}, Reach{4, 12}};
// Where the base has all of these twice: what tells the copies apart is further away.
constexpr std::array kFarReaches = {Reach{40, 40}, Reach{100, 100}, Reach{250, 250}};
// Changed tokens that are nearly unique by themselves need no neighbours.
constexpr std::array kOwnReaches = {Reach{4, 0}, Reach{0, 4}, Reach{0, 0}};
// Of a file without a grammar, where a token is a line.
constexpr std::array kLineReaches = {Reach{2, 2}, Reach{1, 1}, Reach{3, 0}, Reach{0, 3}};
// Where nothing else is found: what is changed, with less beside it.
constexpr std::array kLastReaches = {Reach{4, 4}, Reach{8, 0}, Reach{0, 8}, Reach{4, 0},
                                     Reach{0, 4}};
constexpr std::array kLastLineReaches = {Reach{2, 0}, Reach{0, 2}, Reach{1, 0}, Reach{0, 1},
                                         Reach{0, 0}};
constexpr size_t kFewestTokens = 4;
constexpr size_t kFewestOfLast = 6;
constexpr size_t kTellingLetters = 16;  // of lines
constexpr size_t kFewestLines = 2;
constexpr size_t kFewestOfDirective = 3;  // # include "x"
constexpr size_t kFewestToDoubt = 3;      // int x ;
constexpr size_t kOwnTokens = 6;
constexpr size_t kSurrounding = 16;   // on each side, of what has moved by itself
constexpr size_t kFarthestLine = 30;  // where a common line is looked for
constexpr size_t kLongestTail = 2;    // } behind one more
constexpr size_t kFewestPushed = 2;   // lines more than there were

}  // namespace

std::optional<PlaceFinder::Ranges> PlaceFinder::ranges(const ChangeBlock& block,
                                                       Finding& failure) const {
  const CodeRange all_base{0, static_cast<uint32_t>(base_.size())};
  const CodeRange all_target{0, static_cast<uint32_t>(target_.size())};
  const Scope* scope = holder_of(base_.source(), block);
  if (scope == nullptr) return Ranges{all_base, all_target};
  auto own = same_definitions(base_.source().scopes(), *scope, false);
  auto there = same_definitions(target_.source().scopes(), *scope, false);
  if (own.size() > 1 || there.size() > 1) {
    own = same_definitions(base_.source().scopes(), *scope, true);
    there = same_definitions(target_.source().scopes(), *scope, true);
  }
  if (own.size() > 1) return Ranges{all_base, all_target};
  const CodeRange base = code_range(base_.source(), scope->begin, scope->end);
  if (there.empty() && scope->kind == Scope::Kind::kFunction) {
    return Ranges{all_base, all_target, scope, true};
  }
  if (there.size() != 1) {
    failure.verdict = there.empty() ? Verdict::kMissing : Verdict::kAmbiguous;
    failure.message = fmt::format("`{}` is there {} times", scope->display(), there.size());
    for (const Scope* s : there)
      failure.candidates.push_back(target_.source().candidate(s->begin));
    return std::nullopt;
  }
  return Ranges{base, code_range(target_.source(), there[0]->begin, there[0]->end), scope};
}

// Whether a place in the target is in a function that the base has not, always the same one for
// what was in one function.
bool PlaceFinder::in_new_function(size_t code, const Scope& scope) {
  const Scope* best = nullptr;
  const uint32_t byte = target_.token(std::min(code, target_.size() - 1)).begin;
  for (const Scope& s : target_.source().scopes()) {
    if (s.kind == Scope::Kind::kFunction && s.begin <= byte && byte < s.end) best = &s;
  }
  if (best == nullptr || !same_definitions(base_.source().scopes(), *best, true).empty())
    return false;
  const auto [known, fresh] = renamed_.emplace(&scope, best);
  return fresh || known->second == best;
}

// Long runs first, then short ones.
std::vector<PlaceFinder::Shape> PlaceFinder::shapes(const ChangeBlock& block,
                                                    const Ranges& in) const {
  const size_t first = base_.at_line(block.before_begin);
  const size_t last = base_.at_line(block.before_end);
  const bool lines = base_.source().language() == Language::kLines;
  const bool own = last - first >= (in.scope != nullptr && !in.renamed ? 2 : kOwnTokens);
  const size_t fewest = own ? 2 : lines ? kFewestLines : kFewestTokens;
  std::vector<Shape> out;
  const auto add = [&](const auto& reaches, size_t least, bool last_resort = false) {
    for (const auto& [left, right] : reaches) {
      out.push_back({.left = left, .right = right, .fewest = least, .last_resort = last_resort});
    }
  };
  add(kReaches, fewest);
  if (own) add(kOwnReaches, fewest);
  add(kFarReaches, fewest);
  if (lines) add(kLineReaches, fewest);
  if (lines && !in.renamed) add(kLastLineReaches, 1, true);
  if (!lines && last > first && !in.renamed) add(kLastReaches, kFewestOfLast, true);
  if (lines || !block.inserts()) return out;
  // The lines next to it.
  size_t left = 0;
  while (left < first && base_.line_of(first - left - 1) == base_.line_of(first - 1))
    ++left;
  size_t right = 0;
  while (first + right < base_.size() && base_.line_of(first + right) == base_.line_of(first))
    ++right;
  // `#endif` or `};` is before or behind many things.
  if (std::min(left, right) >= kFewestToDoubt)
    out.push_back({.left = left, .right = right, .fewest = kFewestTokens});
  for (const Reach& r : {Reach{left, 0}, Reach{0, right}}) {
    const size_t at = r.first > 0 ? first - 1 : first;
    const bool directive = at < base_.size() && base_.token(at).directive;
    const size_t enough = directive ? kFewestOfDirective : kFewestTokens;
    out.push_back({.left = r.first,
                   .right = r.second,
                   .fewest = std::min(enough, kFewestToDoubt),
                   .doubts = r.first + r.second < enough});
  }
  return out;
}

void PlaceFinder::refuse(Verdict verdict, size_t code, std::string message,
                         Finding& failure) const {
  failure.verdict = verdict;
  if (target_.size() > 0) {
    failure.place = target_.source().place(target_.token(std::min(code, target_.size() - 1)).begin);
  }
  failure.message = std::move(message);
}

// Searches for every run; false if one is there twice.
bool PlaceFinder::look(const ChangeBlock& block, const Ranges& in, Found& found,
                       Finding& failure) const {
  const size_t first = base_.at_line(block.before_begin);
  const size_t last = base_.at_line(block.before_end);
  const bool lines = base_.source().language() == Language::kLines;
  // The first changed line may begin before the definition that it holds the head of.
  const size_t inside = first - std::min<size_t>(first, in.base.first);
  for (const Shape& shape : shapes(block, in)) {
    const size_t left = std::min(shape.left, inside);
    const size_t right =
        std::min<size_t>(shape.right, in.base.second - std::min<size_t>(last, in.base.second));
    if (left + (last - first) + right < shape.fewest) continue;
    if (shape.last_resort &&
        (found.place || (lines && base_.letters(first - left, last + right) < kTellingLetters)))
      continue;
    const auto run = base_.run(first - left, last + right);
    if (base_.find(run, in.base).size() != 1) continue;
    const auto hits = target_.find(run, in.target);
    // A part of what is around the place, and that is there once.
    const auto at_place = [&](size_t place) {
      const size_t end = place + (last - first) + right;
      return place >= in.target.first + left && end <= in.target.second &&
             target_.run(place - left, end) == run;
    };
    if (hits.size() > 1 && found.surrounded && at_place(*found.place)) continue;
    if (hits.size() > 1 && !shape.doubts) {
      refuse(Verdict::kAmbiguous, hits[0], "what surrounds the change is there more than once",
             failure);
      return false;
    }
    if (hits.size() != 1) continue;
    const size_t at = hits[0] + left;
    if (left > 0 && right == 0) found.before = found.before.value_or(at);
    if (left == 0 && right > 0) found.behind = found.behind.value_or(at);
    if (found.place && *found.place != at) found.apart = at;
    if (shape.doubts) continue;
    if (!found.place) found.place = at;
    found.surrounded = found.surrounded || std::min(left, right) >= kSurrounding;
    if ((left > 0 && right > 0) || last > first) found.one_sided = false;
  }
  look_at_end(block, in, found);
  return true;
}

// What was added as the last of a function or type is its last there, or its end is apart; of a
// type, what stands behind it may be one more, as a count does.
void PlaceFinder::look_at_end(const ChangeBlock& block, const Ranges& in, Found& found) const {
  const size_t last = base_.at_line(block.before_end);
  if (!block.inserts() || in.scope == nullptr || in.renamed) return;
  const size_t tail = in.base.second - std::min<size_t>(last, in.base.second);
  const bool type = in.scope->kind == Scope::Kind::kType;
  if (tail == 0 || tail > (found.place || !type ? 1 : kLongestTail)) return;
  if (!found.place && !type) return;
  if (tail > in.target.second - in.target.first) return;
  const size_t at = in.target.second - tail;
  if (base_.run(last, in.base.second) != target_.run(at, in.target.second)) return;
  found.behind = at;
  found.place = found.place.value_or(at);
  if (*found.place != at) found.apart = at;
}

// Whether what is on the side of the neighbour that is gone is further away than it was: then the
// neighbour was not replaced, and where the block belongs among what has come is not known.
bool PlaceFinder::pushed_away(const ChangeBlock& block, const Ranges& in,
                              const Found& found) const {
  if (found.before.has_value() == found.behind.has_value()) return false;
  const bool up = !found.before;  // the side that is gone
  const size_t edge = base_.at_line(block.before_begin);
  // Code lines from the block to a line that both files have once, in each of them.
  size_t lines = 0;
  size_t at = edge;
  while (lines < kFarthestLine && (up ? at > in.base.first : at < in.base.second)) {
    size_t begin = up ? at - 1 : at;
    while (begin > in.base.first && base_.line_of(begin - 1) == base_.line_of(begin))
      --begin;
    size_t end = begin + 1;
    while (end < in.base.second && base_.line_of(end) == base_.line_of(begin))
      ++end;
    at = up ? begin : end;
    ++lines;
    if (end - begin < kFewestTokens) continue;
    const auto run = base_.run(begin, end);
    if (base_.find(run, in.base).size() != 1) continue;
    const auto hits = target_.find(run, in.target);
    if (hits.size() != 1) continue;
    const size_t from = up ? hits[0] : *found.place;
    const size_t to = up ? *found.place : hits[0] + (end - begin);
    if (from >= to) return true;
    size_t there = 1;
    for (size_t i = from + 1; i < to; ++i)
      there += target_.line_of(i) != target_.line_of(i - 1) ? 1 : 0;
    return there > lines + std::max(kFewestPushed, lines / 2);
  }
  return false;
}

// Whether a place is as deep in brackets as the block was and in the same branches of conditionals,
// or, without a grammar, as far indented.
bool PlaceFinder::as_deep(const ChangeBlock& block, const Ranges& in, size_t place) const {
  const size_t first = base_.at_line(block.before_begin);
  if (base_.source().language() == Language::kLines) {
    const auto indent = [](const TokenIndex& file, size_t code) {
      const Lines& lines = file.source().lines();
      return code < file.size() ? lines.indentation(file.line_of(code)).size() : 0;
    };
    const bool before =
        place > 0 && first > 0 && base_.number(first - 1) == target_.number(place - 1);
    return before ? indent(base_, first - 1) == indent(target_, place - 1)
                  : indent(base_, first) == indent(target_, place);
  }
  const auto depth = [](const TokenIndex& file, size_t begin, size_t end) {
    int out = 0;
    for (size_t i = begin; i < end; ++i) {
      const std::string_view t = file.token(i).text(file.source().bytes());
      if (t == "{" || t == "(" || t == "[") ++out;
      if (t == "}" || t == ")" || t == "]") --out;
    }
    return out;
  };
  const auto branches = [](const TokenIndex& file, size_t code) {
    return code == 0 ? std::vector<std::string>()
                     : file.source().conditionals_at(file.token(code - 1).end);
  };
  if (branches(base_, first) != branches(target_, place)) return false;
  return in.renamed || depth(base_, in.base.first, first) == depth(target_, in.target.first, place);
}

// Of two places, that of what stood before and that of what stood behind, the one where a blank
// line is, if one was there in the base.
bool PlaceFinder::settle(const ChangeBlock& block, Found& found) const {
  const auto blank_before = [](const TokenIndex& file, size_t code) {
    if (code == 0 || code >= file.size()) return true;
    const Lines& lines = file.source().lines();
    for (size_t l = file.last_line_of(code - 1) + 1; l < file.line_of(code); ++l) {
      if (trim(lines.text(l), " \t\r").empty()) return true;
    }
    return false;
  };
  if (!block.inserts() || !found.one_sided || !found.before || !found.behind) return false;
  for (const auto& at : {found.place, found.apart}) {
    if (at != found.before && at != found.behind) return false;
  }
  if (!blank_before(base_, base_.at_line(block.before_begin))) return false;
  const bool before = blank_before(target_, *found.before);
  if (before == blank_before(target_, *found.behind)) return false;
  found.place = before ? found.before : found.behind;
  return true;
}

std::optional<CarriedPlace> PlaceFinder::find(const ChangeBlock& block, Finding& failure) {
  const auto in = ranges(block, failure);
  if (!in) return std::nullopt;
  auto place = find(block, *in, failure);
  const bool gone = !place && failure.verdict == Verdict::kMissing && in->scope != nullptr;
  return gone && in->scope->kind == Scope::Kind::kFunction ? find_moved(block, *in) : place;
}

// In another function, where what surrounds the block, or one before it, says so alone.
std::optional<CarriedPlace> PlaceFinder::find_moved(const ChangeBlock& block, const Ranges& in) {
  const Ranges all{{0, static_cast<uint32_t>(base_.size())},
                   {0, static_cast<uint32_t>(target_.size())},
                   in.scope,
                   true};
  Found found;
  Finding unknown;
  if (!look(block, all, found, unknown) || found.apart || !found.place) return std::nullopt;
  const Scope* into =
      target_.source().scope_at(target_.token(std::min(*found.place, target_.size() - 1)).begin);
  if (found.surrounded) moved_.emplace(in.scope, into);
  const auto known = moved_.find(in.scope);
  if (found.one_sided || known == moved_.end() || known->second != into) return std::nullopt;
  const size_t size = base_.at_line(block.before_end) - base_.at_line(block.before_begin);
  return CarriedPlace{.begin = *found.place, .end = *found.place + size};
}

std::optional<CarriedPlace> PlaceFinder::find(const ChangeBlock& block, const Ranges& range,
                                              Finding& failure) {
  const Ranges* in = &range;
  const size_t first = base_.at_line(block.before_begin);
  const size_t last = base_.at_line(block.before_end);
  Found found;
  if (!look(block, *in, found, failure)) return std::nullopt;
  CarriedPlace out;
  if (found.one_sided) out.choice = CarriedPlace::Choice::kOneSided;
  if (found.apart) {
    if (!settle(block, found)) {
      refuse(Verdict::kAmbiguous, *found.apart,
             "what stood before the change and what stood after it are apart now", failure);
      return std::nullopt;
    }
    out.choice = CarriedPlace::Choice::kParagraph;
  }
  const auto& place = found.place;
  if (place && out.choice == CarriedPlace::Choice::kOneSided && pushed_away(block, *in, found)) {
    refuse(Verdict::kAmbiguous, *place,
           "one neighbour of the added lines is gone, and others have come between it and the one "
           "that is left",
           failure);
    return std::nullopt;
  }
  if (place && out.choice != CarriedPlace::Choice::kNone && !as_deep(block, *in, *place)) {
    refuse(Verdict::kMissing, *place, "the neighbour that is left is in another block now",
           failure);
    return std::nullopt;
  }
  // What the base had at its begin or end stands there still, or it is not known where it belongs.
  if (place && block.inserts() &&
      ((first == 0 && *place != 0) || (last == base_.size() && *place != target_.size()))) {
    refuse(Verdict::kAmbiguous, *place,
           fmt::format("the added lines were the file's {} ones; now others are",
                       first == 0 ? "first" : "last"),
           failure);
    return std::nullopt;
  }
  if (!place || (in->renamed && !in_new_function(*place, *in->scope))) {
    failure.verdict = Verdict::kMissing;
    failure.message =
        in->scope == nullptr
            ? "the changed lines are not there any more"
            : fmt::format("the changed lines are not in `{}` any more", in->scope->display());
    if (const auto at = nearest_lines(base_, block, in->base, target_, in->target)) {
      const uint32_t byte = target_.token(*at).begin;
      failure.place = target_.source().place(byte);
      failure.candidates.push_back(target_.source().candidate(byte));
    }
    return std::nullopt;
  }
  out.begin = *place;
  out.end = *place + (last - first);
  return out;
}

}  // namespace patcher
