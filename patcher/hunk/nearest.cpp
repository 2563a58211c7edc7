#include "patcher/hunk/nearest.h"

#include <algorithm>
#include <cctype>
#include <unordered_map>

namespace patcher {
namespace {

// Tokens as small numbers, so that comparing everything with everything stays cheap.
class Numbers {
 public:
  uint32_t of(std::string_view text) {
    return ids_.emplace(text, static_cast<uint32_t>(ids_.size())).first->second;
  }

 private:
  std::unordered_map<std::string_view, uint32_t> ids_;
};

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
      const size_t n = std::min<size_t>(run.size(), range.second - p);
      size_t equal = 0;
      for (size_t i = 0; i < n; ++i)
        equal += run[i] == file[p + i] ? 1 : 0;
      size_t prefix = 0;
      while (prefix < n && run[prefix] == file[p + prefix])
        ++prefix;
      const auto better = std::pair(equal, prefix) > std::pair(best.equal, best.prefix);
      if (better) best = {p, equal, prefix};
    }
  }
  if (best.equal == 0) return std::nullopt;
  return best;
}

std::optional<Nearest> nearest_place(const Source& source, const Side& side,
                                     const std::vector<CodeRange>& ranges) {
  Numbers numbers;
  std::vector<uint32_t> pattern;
  for (size_t t : side.code)
    pattern.push_back(numbers.of(side.token_text(t)));
  std::vector<uint32_t> target;
  for (uint32_t t : source.code()) {
    target.push_back(numbers.of(source.tokens()[t].text(source.bytes())));
  }
  const auto best = nearest_run(pattern, target, ranges);
  if (!best) return std::nullopt;
  const auto token = [&](size_t i) -> const Token& { return source.tokens()[source.code()[i]]; };
  Nearest out{.byte = token(best->at).begin, .equal = best->equal, .token = best->prefix + 1};
  const size_t differing = best->at + best->prefix;
  out.wanted = best->prefix < pattern.size() ? side.token_text(side.code[best->prefix]) : "";
  const bool there = differing < source.code().size();
  out.there = there ? token(differing).text(source.bytes()) : "the end of the file";
  out.differs = there ? token(differing).begin : static_cast<uint32_t>(source.bytes().size());
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
