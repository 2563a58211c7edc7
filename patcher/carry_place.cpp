#include "patcher/carry_place.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "patcher/holder.h"

namespace patcher {
namespace {

struct Shape {
  size_t left = 0;
  size_t right = 0;
};

constexpr std::array kShapes = {Shape{16, 16}, Shape{8, 8},  Shape{24, 0}, Shape{0, 24},
                                Shape{12, 0},  Shape{0, 12}, Shape{12, 4}, Shape{4, 12}};
// Where the base has all of these twice: what tells the copies apart is further away.
constexpr std::array kFarShapes = {Shape{40, 40}, Shape{100, 100}, Shape{250, 250}};
// Changed tokens that are nearly unique by themselves need no neighbours.
constexpr std::array kOwnShapes = {Shape{4, 0}, Shape{0, 4}, Shape{0, 0}};
constexpr size_t kFewestTokens = 4;
constexpr size_t kOwnTokens = 6;

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

std::optional<CarriedPlace> PlaceFinder::find(const ChangeBlock& block, Finding& failure) {
  const auto in = ranges(block, failure);
  if (!in) return std::nullopt;
  const size_t first = base_.at_line(block.before_begin);
  const size_t last = base_.at_line(block.before_end);
  std::vector<Shape> shapes(kShapes.begin(), kShapes.end());
  const bool own = last - first >= (in->scope != nullptr && !in->renamed ? 2 : kOwnTokens);
  if (own) shapes.insert(shapes.end(), kOwnShapes.begin(), kOwnShapes.end());
  shapes.insert(shapes.end(), kFarShapes.begin(), kFarShapes.end());
  std::optional<size_t> place;
  CarriedPlace out{.scope = in->target, .one_sided = true};
  for (const Shape& shape : shapes) {
    const size_t left = std::min<size_t>(shape.left, first - in->base.first);
    const size_t right =
        std::min<size_t>(shape.right, in->base.second - std::min<size_t>(last, in->base.second));
    const size_t begin = first - left;
    const size_t end = last + right;
    if (end - begin < (own ? 2 : kFewestTokens)) continue;
    const auto run = base_.run(begin, end);
    if (base_.find(run, in->base).size() != 1) continue;
    const auto hits = target_.find(run, in->target);
    if (hits.size() > 1) {
      failure.verdict = Verdict::kAmbiguous;
      failure.place = target_.source().place(target_.token(hits[0]).begin);
      failure.message = "what surrounds the change is there more than once";
      return std::nullopt;
    }
    if (hits.empty()) continue;
    if (place && *place != hits[0] + left) {
      failure.verdict = Verdict::kAmbiguous;
      failure.place = target_.source().place(target_.token(hits[0]).begin);
      failure.message = "what stood before the change and what stood after it are apart now";
      return std::nullopt;
    }
    place = hits[0] + left;
    if ((left > 0 && right > 0) || last > first) out.one_sided = false;
  }
  // What the base had at its begin or end stands there still, or it is not known where it belongs.
  if (place && block.inserts() &&
      ((first == 0 && *place != 0) || (last == base_.size() && *place != target_.size()))) {
    failure.verdict = Verdict::kAmbiguous;
    failure.place =
        target_.source().place(target_.token(std::min(*place, target_.size() - 1)).begin);
    failure.message = fmt::format("the added lines were the file's {} ones; now others are",
                                  first == 0 ? "first" : "last");
    return std::nullopt;
  }
  if (!place || (in->renamed && !in_new_function(*place, *in->scope))) {
    failure.verdict = Verdict::kMissing;
    failure.message =
        in->scope == nullptr
            ? "the changed lines are not there any more"
            : fmt::format("the changed lines are not in `{}` any more", in->scope->display());
    return std::nullopt;
  }
  out.begin = *place;
  out.end = *place + (last - first);
  return out;
}

}  // namespace patcher
