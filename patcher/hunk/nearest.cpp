#include "patcher/hunk/nearest.h"

#include <algorithm>
#include <cctype>
#include <span>

#include "patcher/syntax/code_words.h"

namespace patcher {
namespace {

// The numbers of a run's words. Brackets and commas are alike everywhere: they get the number
// `other`.
std::vector<uint32_t> words(const TokenIndex& file, size_t begin, size_t end, uint32_t other) {
  std::vector<uint32_t> out = file.run(begin, end);
  for (size_t i = begin; i < end; ++i) {
    const auto c = static_cast<unsigned char>(file.source().bytes()[file.token(i).begin]);
    if (std::ispunct(c) != 0 && c != '_' && c != '"') out[i - begin] = other;
  }
  return out;
}

// What of the run agrees with the file at `at`.
NearestRun compare_at(const std::vector<uint32_t>& run, const std::vector<uint32_t>& file,
                      uint32_t at, uint32_t end) {
  const size_t n = std::min<size_t>(run.size(), end - at);
  NearestRun out{.at = at};
  for (size_t i = 0; i < n; ++i)
    out.equal += run[i] == file[at + i] ? 1 : 0;
  while (out.prefix < n && run[out.prefix] == file[at + out.prefix])
    ++out.prefix;
  return out;
}

bool nearer(const NearestRun& a, const NearestRun& b) {
  return std::pair(a.equal, a.prefix) > std::pair(b.equal, b.prefix);
}

// nearest_run() for a side: its rarest tokens first, as far as a place without any of them could
// still be the nearest.
std::optional<NearestRun> nearest_by_index(const Source& source, const Side& side,
                                           const std::vector<CodeRange>& ranges) {
  const CodeIndex& index = source.index();
  std::vector<uint32_t> run;
  std::vector<std::pair<std::span<const uint32_t>, uint32_t>> by_rarity;  // places, position
  for (const size_t t : side.code) {
    by_rarity.emplace_back(index.places(side.token_text(t)), static_cast<uint32_t>(run.size()));
    run.push_back(CodeIndex::number(side.token_text(t)));
  }
  std::stable_sort(by_rarity.begin(), by_rarity.end(),
                   [](const auto& a, const auto& b) { return a.first.size() < b.first.size(); });
  NearestRun best;
  uint64_t cells = 0;
  for (size_t r = 0; r < by_rarity.size() && best.equal <= by_rarity.size() - r; ++r) {
    const auto& [places, position] = by_rarity[r];
    for (const CodeRange& range : ranges) {
      auto place = std::lower_bound(places.begin(), places.end(), range.first + position);
      for (; place != places.end() && *place < range.second; ++place) {
        const auto here = compare_at(run, index.numbers(), *place - position, range.second);
        if (nearer(here, best) || (!nearer(best, here) && here.at < best.at)) best = here;
        if ((cells += run.size()) > kMatchSteps) return std::nullopt;
      }
    }
  }
  if (best.equal == 0) return std::nullopt;
  return best;
}

}  // namespace

std::optional<NearestRun> nearest_run(const std::vector<uint32_t>& run,
                                      const std::vector<uint32_t>& file,
                                      const std::vector<CodeRange>& ranges) {
  uint64_t cells = 0;
  for (const CodeRange& range : ranges)
    cells += uint64_t{range.second - range.first} * run.size();
  if (cells > kMatchSteps) return std::nullopt;
  NearestRun best;
  for (const CodeRange& range : ranges) {
    for (uint32_t p = range.first; p < range.second; ++p) {
      const NearestRun here = compare_at(run, file, p, range.second);
      if (nearer(here, best)) best = here;
    }
  }
  if (best.equal == 0) return std::nullopt;
  return best;
}

std::optional<Nearest> nearest_place(const Source& source, const Side& side,
                                     const std::vector<CodeRange>& ranges) {
  const auto best = nearest_by_index(source, side, ranges);
  if (!best) return std::nullopt;
  const auto token = [&](size_t i) -> const Token& { return source.tokens()[source.code()[i]]; };
  Nearest out{.byte = token(best->at).begin, .equal = best->equal, .token = best->prefix + 1};
  const size_t differing = best->at + best->prefix;
  out.wanted = best->prefix < side.code.size() ? side.token_text(side.code[best->prefix]) : "";
  uint32_t end = 0;  // of the range that the place is in
  for (const CodeRange& range : ranges) {
    if (range.first <= best->at && best->at < range.second) end = std::max(end, range.second);
  }
  const size_t size = source.code().size();
  const bool there = differing < end;
  out.there = there         ? token(differing).text(source.bytes())
              : end == size ? "the end of the file"
                            : "the end of the scope";
  out.differs = there         ? token(differing).begin
                : end == size ? static_cast<uint32_t>(source.bytes().size())
                              : token(end - 1).begin;
  for (size_t i = 0; i < side.code.size() && best->at + i < end; ++i) {
    const std::string_view text = side.token_text(side.code[i]);
    const bool equal = text == token(best->at + i).text(source.bytes());
    out.has_word = out.has_word || (equal && (is_word(text) || is_string(text)));
  }
  return out;
}

std::optional<size_t> nearest_lines(const TokenIndex& base, const ChangeBlock& block,
                                    CodeRange in_base, const TokenIndex& target,
                                    CodeRange in_target) {
  constexpr uint32_t kOfBase = UINT32_MAX;
  constexpr uint32_t kOfTarget = UINT32_MAX - 1;
  size_t first = base.at_line(block.before_begin);
  size_t last = base.at_line(block.before_end);
  if (first == last) {
    if (first > in_base.first) --first;
    while (first > in_base.first && base.line_of(first - 1) == base.line_of(first))
      --first;
    const size_t begin = last;
    while (last < in_base.second && base.line_of(last) == base.line_of(begin))
      ++last;
  }
  const auto run = words(base, first, last, kOfBase);
  const auto count = run.size() - static_cast<size_t>(std::count(run.begin(), run.end(), kOfBase));
  const auto best = nearest_run(run, words(target, 0, target.size(), kOfTarget), {in_target});
  if (!best || 2 * best->equal <= count) return std::nullopt;
  return best->at;
}

}  // namespace patcher
