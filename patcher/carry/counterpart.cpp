#include "patcher/carry/counterpart.h"

#include <algorithm>
#include <iterator>
#include <unordered_map>

#include "patcher/text/lines.h"

namespace patcher {
namespace {

using Tokens = std::vector<uint32_t>;

// From this share of common tokens on two parts look alike.
constexpr double kAlike = 0.6;
// At whose edge something is added is the same part with less in common only if
// another witness says so.
constexpr double kSameEdge = 0.5;
// How much more of what tells them apart must speak for one than for the other.
constexpr double kClearly = 0.5;
// Equal tokens around a place that make another one look like it.
constexpr size_t kAlikeAround = 10;
constexpr size_t kAlikeLines = 2;
constexpr size_t kFarthest = 40;
constexpr size_t kTellingTokens = 8;
// Of an alignment, on each side of the place.
constexpr size_t kWindow = 1500;
// Alignments that differ by no more tokens cost about the same.
constexpr size_t kAboutSame = 1;
constexpr size_t kContinues = 2;  // tokens on each side
constexpr size_t kNear = 3;       // going through a place so near is no other alignment

Tokens common(const Tokens& a, const Tokens& b) {
  Tokens both;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(both));
  return both;
}

Tokens without(const Tokens& a, const Tokens& b) {
  Tokens out;
  std::set_difference(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(out));
  return out;
}

double likeness(const Tokens& a, const Tokens& b) {
  const size_t all = a.size() + b.size();
  return all == 0 ? 0 : 2.0 * static_cast<double>(common(a, b).size()) / static_cast<double>(all);
}

// How much each token tells of a part: less, the more of the parts beside each
// other have it.
class Weights {
 public:
  void add(const std::vector<Tokens>& parts) {
    std::unordered_map<uint32_t, size_t> count;
    for (const Tokens& part : parts) {
      for (size_t i = 0; i < part.size(); ++i)
        count[part[i]] += i == 0 || part[i] != part[i - 1] ? 1 : 0;
    }
    for (const auto& [token, n] : count)
      most_[token] = std::max(most_[token], n);
  }
  double of(const Tokens& tokens) const {
    double out = 0;
    for (const uint32_t token : tokens)
      out += 1.0 / static_cast<double>(most_.at(token));
    return out;
  }

 private:
  std::unordered_map<uint32_t, size_t> most_;
};

// Whether `one` is the counterpart of `own` and not of `rival`, which looks
// like it.
Kinship decide(const Tokens& one, const Tokens& own, const Tokens& rival, const Weights& weights) {
  const Tokens for_own = without(own, rival);
  const Tokens for_rival = without(rival, own);
  if (for_own.empty() && for_rival.empty()) return Kinship::kOpen;
  const auto share = [&](const Tokens& tokens, double if_empty) {
    if (tokens.empty()) return if_empty;
    return weights.of(common(one, tokens)) / weights.of(tokens);
  };
  const double own_share = share(for_own, for_rival.empty() ? 0 : 1);
  const double rival_share = share(for_rival, 0);
  if (rival_share > own_share) return Kinship::kRefuted;
  return own_share - rival_share < kClearly ? Kinship::kOpen : Kinship::kProven;
}

// Edit costs of a against the prefixes of b: how many tokens to remove and to
// add.
std::vector<uint32_t> costs(const Tokens& a, const Tokens& b) {
  std::vector<uint32_t> row(b.size() + 1);
  for (size_t j = 0; j < row.size(); ++j)
    row[j] = static_cast<uint32_t>(j);
  for (const uint32_t token : a) {
    uint32_t diagonal = row[0]++;
    for (size_t j = 1; j < row.size(); ++j) {
      const uint32_t here = b[j - 1] == token ? diagonal : std::min(row[j], row[j - 1]) + 1;
      diagonal = row[j];
      row[j] = here;
    }
  }
  return row;
}

}  // namespace

Counterparts::Counterparts(const TokenIndex& base, const TokenIndex& target, Direction direction)
    : direction_(direction),
      base_(base),
      target_(target),
      base_parts_(base),
      target_parts_(target) {}

Tokens Counterparts::tokens_of(const TokenIndex& file, const Part& part) {
  Tokens out = file.run(part.begin, part.end);
  std::sort(out.begin(), out.end());
  return out;
}

// The two parts, by those beside them that look alike.
KinshipAnswer Counterparts::level(const Outline::Level& base, const Outline::Level& target,
                                  Ends from, Ends to, bool at_edge) const {
  const auto all = [](const TokenIndex& file, const Outline::Level& level) {
    std::vector<Tokens> out{tokens_of(file, level.part)};
    for (const Part& part : level.siblings)
      out.push_back(tokens_of(file, part));
    return out;
  };
  std::vector<Tokens> before = all(base_, base);
  std::vector<Tokens> now = all(target_, target);
  Weights weights;
  weights.add(before);
  weights.add(now);
  if (direction_ == Direction::kUndone) {
    before[0] = without(before[0], tokens_of(base_, {from.base, to.base}));
    now[0] = without(now[0], tokens_of(target_, {from.target, to.target}));
  }
  KinshipAnswer out;
  const auto weigh = [&](const std::vector<Tokens>& parts, const Outline::Level& level,
                         const Tokens& one, bool in_base) {
    for (size_t i = 1; i < parts.size(); ++i) {
      const double alike = likeness(one, parts[i]);
      const bool better =
          (at_edge || !level.paragraph) && alike >= kAlike && alike >= likeness(one, parts[0]);
      if (!better && likeness(parts[0], parts[i]) < kAlike) continue;
      const Kinship k = decide(one, parts[0], parts[i], weights);
      if (k <= out.kinship) continue;
      out = {.kinship = k, .rival = level.siblings[i - 1].begin, .rival_in_base = in_base};
    }
  };
  weigh(before, base, now[0], true);
  weigh(now, target, before[0], false);
  return out;
}

// The part of the target that holds the place and has most of this one.
const Outline::Level* Counterparts::most_alike(const Outline::Level& base,
                                               const std::vector<Outline::Level>& there) const {
  const Tokens mine = tokens_of(base_, base.part);
  const Outline::Level* best = nullptr;
  double most = 0;
  for (const Outline::Level& one : there) {
    const double alike =
        one.paragraph == base.paragraph ? likeness(mine, tokens_of(target_, one.part)) : 0;
    if (alike <= most) continue;
    most = alike;
    best = &one;
  }
  return best;
}

// Another place of the base that has around it what the target has around the
// place.
std::optional<size_t> Counterparts::look_alike(Ends from, Ends to, const Part& in_base) const {
  const bool lines = base_.source().language() == Language::kLines;
  const size_t enough = lines ? kAlikeLines : kAlikeAround;
  const size_t size = to.target - from.target;
  for (size_t at = in_base.begin; at + size <= in_base.end; ++at) {
    if (at == from.base) continue;
    size_t equal = 0;
    while (equal < size && base_.number(at + equal) == target_.number(from.target + equal))
      ++equal;
    if (equal < size) continue;
    size_t left = 0;
    while (left < std::min({kFarthest, at - in_base.begin, from.target}) &&
           base_.number(at - left - 1) == target_.number(from.target - left - 1))
      ++left;
    size_t right = 0;
    while (right < std::min({kFarthest, in_base.end - at - size, target_.size() - to.target}) &&
           base_.number(at + size + right) == target_.number(to.target + right))
      ++right;
    if (left > 0 && right > 0 && left + size + right >= enough) return at;
  }
  return std::nullopt;
}

// Whether an alignment of the two that costs no more, or about the same, leads
// elsewhere.
bool Counterparts::led_elsewhere(Ends from, Ends to, Part in_base, Part in_target,
                                 AtEdge edge) const {
  const size_t half = (to.base - from.base) / 2;
  const Ends at{from.base + half, from.target + half};
  const auto cut = [](Part range, size_t middle) {
    return Part{std::max(range.begin, middle - std::min(middle, kWindow)),
                std::min(range.end, middle + kWindow)};
  };
  const Part b = cut(in_base, at.base);
  const Part t = cut(in_target, at.target);
  const Tokens there = target_.run(t.begin, t.end);
  std::vector<uint32_t> cost = costs(base_.run(b.begin, at.base), there);
  Tokens rest = base_.run(at.base, b.end);
  std::reverse(rest.begin(), rest.end());
  const std::vector<uint32_t> back = costs(rest, Tokens(there.rbegin(), there.rend()));
  for (size_t j = 0; j < cost.size(); ++j)
    cost[j] += back[there.size() - j];
  const bool lines = base_.source().language() == Language::kLines;
  const size_t place = at.target - t.begin;
  size_t first = place;
  while (first > 0 && cost[first - 1] == cost[place])
    --first;
  size_t last = place;
  while (last + 1 < cost.size() && cost[last + 1] == cost[place])
    ++last;
  const auto distance = [](size_t one, size_t two) { return one < two ? two - one : one - two; };
  const size_t near = lines ? 1 : kNear;
  for (size_t j = 0; j < cost.size(); ++j) {
    if (distance(j, place) < near || cost[j] > cost[place] + kAboutSame) continue;
    // What was only added at the place is passed at no cost, unless it repeats
    // what stands there.
    const bool run = j + near > first && j < last + near;
    if (!run || continues(at.base, t.begin + j)) return true;
    if (t.begin + j >= half && is_there_too(from, to, t.begin + j - half)) return true;
    if (edge != AtEdge::kNone && ends_as_well(at, t.begin + j, edge)) return true;
  }
  return false;
}

// Whether what is changed stands at another place of the target too.
bool Counterparts::is_there_too(Ends from, Ends to, size_t other) const {
  const size_t size = to.base - from.base;
  return size > 0 && other + size <= target_.size() &&
         base_.run(from.base, to.base) == target_.run(other, other + size);
}

// Whether the part that the place is the edge of may as well end, or begin, at
// another one.
bool Counterparts::ends_as_well(Ends at, size_t other, AtEdge edge) const {
  const auto equal = [&](size_t there) {
    size_t n = 0;
    while (n < kFarthest &&
           (edge == AtEdge::kEnd
                ? n < at.base && n < there &&
                      base_.number(at.base - n - 1) == target_.number(there - n - 1)
                : at.base + n < base_.size() && there + n < target_.size() &&
                      base_.number(at.base + n) == target_.number(there + n)))
      ++n;
    return n;
  };
  const size_t here = equal(at.target);
  return here >= kContinues && equal(other) >= here;
}

// Whether the same tokens are on both sides of two places.
bool Counterparts::continues(size_t in_base, size_t in_target) const {
  const auto same = [&](size_t b, size_t t) {
    return b < base_.size() && t < target_.size() && base_.number(b) == target_.number(t);
  };
  const size_t enough = base_.source().language() == Language::kLines ? 1 : kContinues;
  for (size_t i = 0; i < enough; ++i) {
    if (!same(in_base + i, in_target + i)) return false;
    if (in_base <= i || in_target <= i || !same(in_base - i - 1, in_target - i - 1)) return false;
  }
  return true;
}

// Whether what is changed is there once in either file, and long enough to be
// no chance.
bool Counterparts::says_itself(Ends from, Ends to) const {
  const size_t fewest =
      base_.source().language() == Language::kLines ? kAlikeLines : kTellingTokens;
  if (to.base - from.base < fewest) return false;
  const auto run = base_.run(from.base, to.base);
  return base_.find(run, {0, static_cast<uint32_t>(base_.size())}).size() == 1 &&
         target_.find(run, {0, static_cast<uint32_t>(target_.size())}).size() == 1;
}

KinshipAnswer Counterparts::check(const ChangeBlock& block, std::string_view added,
                                  const CarriedPlace& place, CodeRange in_base,
                                  CodeRange in_target) const {
  const Ends from{base_.at_line(block.before_begin), place.begin};
  const Ends to{base_.at_line(block.before_end), place.end};
  const bool inside = in_target.first <= from.target && to.target <= in_target.second;
  Part around_base{0, base_.size()};
  Part around_target{0, target_.size()};
  if (inside) {  // or the name says already that it is elsewhere
    around_base = {std::min<size_t>(in_base.first, from.base),
                   std::max<size_t>(in_base.second, to.base)};
    around_target = {in_target.first, in_target.second};
  }
  const Lines& lines = base_.source().lines();
  const auto joined = [&](size_t begin, size_t end) {  // also by the comments between
    while (begin < end && !is_blank(lines.text(begin)))
      ++begin;
    return begin >= end;
  };
  Edge edge{
      .indent = columns(added),
      .before = from.base > 0 && joined(base_.last_line_of(from.base - 1) + 1, block.before_begin),
      .behind = from.base < base_.size() && joined(block.before_begin, base_.line_of(from.base))};
  const auto own = base_parts_.around(from.base, to.base, edge, around_base);
  edge.indent = target_parts_.indent_as(from.target, edge.indent, base_parts_, from.base);
  const auto there = target_parts_.around(from.target, to.target, edge, around_target);
  KinshipAnswer open;
  bool strange = false;
  // From the outermost on, so that each level is inside of those that are known
  // to be the same.
  for (size_t i = own.size(); i-- > 0;) {
    const Outline::Level* best = most_alike(own[i], there);
    const bool at_edge =
        from.base == to.base && (own[i].part.begin == from.base || own[i].part.end == from.base);
    if (best == nullptr && at_edge) return {.kinship = Kinship::kRefuted};
    if (best == nullptr) continue;
    const KinshipAnswer answer = level(own[i], *best, from, to, at_edge);
    if (answer.kinship == Kinship::kRefuted) return answer;
    const AtEdge side = !at_edge                       ? AtEdge::kNone
                        : own[i].part.end == from.base ? AtEdge::kEnd
                                                       : AtEdge::kBegin;
    strange = strange || (at_edge && likeness(tokens_of(base_, own[i].part),
                                              tokens_of(target_, best->part)) < kSameEdge);
    if (answer.kinship == Kinship::kOpen &&
        led_elsewhere(from, to, around_base, around_target, side)) {
      open = answer;
      open.kinship = Kinship::kTied;
    }
    around_base = own[i].part;
    around_target = best->part;
  }
  if (says_itself(from, to)) return {};
  if (open.kinship == Kinship::kTied) return open;
  if (strange) return {.kinship = Kinship::kOpen};
  const auto alike = look_alike(from, to, around_base);
  if (alike && led_elsewhere(from, to, around_base, around_target, AtEdge::kNone)) {
    return {.kinship = Kinship::kOpen, .rival = *alike, .rival_in_base = true};
  }
  return {};
}

}  // namespace patcher
