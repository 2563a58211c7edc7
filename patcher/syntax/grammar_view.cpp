#include "patcher/syntax/grammar_view.h"

#include <algorithm>

namespace patcher {
namespace {

// In order and apart; where two meet, the one that begins first counts.
std::vector<Reading::Blank> merged(std::vector<Reading::Blank> a,
                                   const std::vector<Reading::Blank>& b) {
  a.insert(a.end(), b.begin(), b.end());
  std::stable_sort(a.begin(), a.end(),
                   [](const auto& x, const auto& y) { return x.begin < y.begin; });
  std::vector<Reading::Blank> out;
  for (const Reading::Blank& blank : a) {
    if (!out.empty() && blank.begin < out.back().end) {
      if (blank.end > out.back().end) out.back() = {.begin = out.back().begin, .end = blank.end};
    } else {
      out.push_back(blank);
    }
  }
  return out;
}

}  // namespace

Reading read_as(std::string_view text, const std::vector<Token>& tokens) {
  std::vector<bool> gone;
  const auto macros = macro_blanks(text, tokens, gone);
  Reading out = cutting_conditionals(text, tokens, gone);
  out.blanks = merged(std::move(out.blanks), macros);
  std::vector<std::pair<uint32_t, uint32_t>> apart;
  for (const auto& [begin, end] : out.unread) {
    if (!apart.empty() && begin < apart.back().second) {
      apart.back().second = std::max(apart.back().second, end);
    } else {
      apart.emplace_back(begin, end);
    }
  }
  out.unread = std::move(apart);
  return out;
}

std::string shown(std::string_view text, const Reading& reading) {
  std::string out(text);
  for (const Reading::Blank& blank : reading.blanks) {
    for (uint32_t i = blank.begin; i < blank.end; ++i) {
      if (out[i] != '\n' && out[i] != '\r') out[i] = blank.fill;
    }
  }
  return out;
}

}  // namespace patcher
