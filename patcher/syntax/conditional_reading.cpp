// cutting_conditionals: which conditionals a grammar cannot read, and what of the text depends on
// them.
#include <algorithm>
#include <array>
#include <climits>

#include "patcher/syntax/code_words.h"
#include "patcher/syntax/grammar_view.h"

namespace patcher {
namespace {

// What a statement or a declaration can end with, and what cannot begin one.
constexpr std::array<std::string_view, 5> kEnds = {"", ";", "{", "}", ":"};
constexpr std::array<std::string_view, 22> kGoesOn = {
    "else", "catch", ")",  "]", ",",  "||", "&&", "+",  "/", "%", "^",
    "|",    "=",     "==", ".", "->", "?",  ":",  "<<", "<", ">", "!="};

// How many brackets are open at a place of the text as it is shown, and what stands before it.
struct State {
  int braces = 0;
  int others = 0;
  uint32_t begin = 0;  // of the statement
  int statement_others = 0;
  std::string_view last = {};

  bool fresh() const { return one_of(kEnds, last); }
};

struct Branch {
  uint32_t begin = 0;  // bytes, between the lines with `#`
  uint32_t end = 0;
  int low_braces = INT_MAX;
  int low_others = INT_MAX;
  bool wraps = true;  // only opens or closes namespaces and `extern "C"`
  std::string_view first = {};
  std::string_view last = {};
};

struct Conditional {
  std::vector<std::pair<uint32_t, uint32_t>> lines = {};  // those with `#`
  std::vector<Branch> branches = {};
  State before = {};
  State after_first = {};
  bool in_enum = false;
  bool unreadable = false;  // for a grammar
  bool cuts = false;        // through a statement, so that what it is depends on the branch
};

class ConditionalReader {
 public:
  ConditionalReader(std::string_view text, const std::vector<Token>& tokens,
                    const std::vector<bool>& gone)
      : text_(text), tokens_(tokens), gone_(gone) {}

  Reading run() {
    if (!has_conditional()) return {};
    for (size_t i = 0; i < tokens_.size(); ++i) {
      if (tokens_[i].comment) continue;
      if (!tokens_[i].directive) {
        if (!gone_[i]) feed(tokens_[i]);
      } else if (word(i) == "#") {
        i = directive(i);
      }
    }
    for (Cut& cut : cuts_)
      end(cut, static_cast<uint32_t>(text_.size()));
    for (const Conditional& c : done_) {
      if (c.unreadable || c.cuts) show_first(c);
    }
    std::sort(out_.blanks.begin(), out_.blanks.end(),
              [](const auto& a, const auto& b) { return a.begin < b.begin; });
    std::sort(out_.unread.begin(), out_.unread.end());
    return std::move(out_);
  }

 private:
  // A statement that a conditional cuts through, until it ends.
  struct Cut {
    uint32_t begin = 0;
    int braces = 0;  // open ones where it ends
    int others = 0;
    uint32_t ended = 0;  // not 0: where it ends unless what follows goes on with it
  };

  std::string_view word(size_t i) const { return tokens_[i].text(text_); }

  bool has_conditional() const {
    for (size_t i = 0; i + 1 < tokens_.size(); ++i) {
      if (tokens_[i].directive && word(i) == "#" && word(i + 1).starts_with("if")) return true;
    }
    return false;
  }

  void feed(const Token& token) {
    const std::string_view t = token.text(text_);
    if (one_of(kGoesOn, t)) {
      for (const size_t c : just_closed_)
        cut(done_[c]);
    }
    just_closed_.clear();
    if (t == "enum") enum_head_ = true;
    if (t == ";" || t == ")" || t == ",") enum_head_ = false;
    if (state_.fresh()) {
      state_.begin = token.begin;
      state_.statement_others = state_.others;
    }
    end_cuts_before(t, token.begin);
    if (t == "{" || t == "}") brace(t == "{" ? 1 : -1);
    if (t == "(" || t == "[") ++state_.others;
    if (t == ")" || t == "]") --state_.others;
    for (Cut& cut : cuts_) {
      if (cut.begin < other_branch_) continue;
      const bool ends = (t == ";" || t == "}") && state_.braces == cut.braces;
      if (ends && state_.others <= cut.others) cut.ended = token.end;
    }
    note_branch(t);
    state_.last = t;
  }

  void note_branch(std::string_view t) {
    if (open_.empty()) return;
    Branch& branch = open_.back().branches.back();
    const bool name = branch.last == "namespace" || branch.last == "::";
    branch.wraps = branch.wraps && (t == "{" || t == "}" || t == "extern" || t == "namespace" ||
                                    t == "::" || is_string(t) || name);
    if (branch.first.empty()) branch.first = t;
    branch.last = t;
    lower(branch);
  }

  void lower(Branch& branch) const {
    branch.low_braces = std::min(branch.low_braces, state_.braces);
    branch.low_others = std::min(branch.low_others, state_.others);
  }

  void brace(int step) {
    state_.braces += step;
    // In an enum's braces the grammars know conditionals between what commas end.
    if (step > 0 && enum_head_) enums_.push_back(state_.braces);
    enum_head_ = false;
    leave_enums();
  }

  void leave_enums() {
    while (!enums_.empty() && enums_.back() > state_.braces)
      enums_.pop_back();
  }

  void restore(const State& state) {
    state_ = state;
    enum_head_ = false;
    leave_enums();
  }

  // --- cuts

  void cut(Conditional& c) {
    if (c.cuts) return;
    c.cuts = true;
    int braces = c.before.braces;
    for (const Branch& branch : c.branches)
      braces = std::min(braces, branch.low_braces);
    const bool fresh = c.before.fresh();
    // Within another that ends no sooner it says nothing.
    if (!cuts_.empty() && cuts_.back().begin >= other_branch_ && cuts_.back().braces <= braces)
      return;
    cuts_.push_back({.begin = fresh ? c.lines.front().first : c.before.begin,
                     .braces = braces,
                     .others = fresh ? c.before.others : c.before.statement_others});
  }

  void end(Cut& cut, uint32_t at) { out_.unread.emplace_back(cut.begin, at); }

  void end_cuts_before(std::string_view t, uint32_t begin) {
    std::erase_if(cuts_, [&](Cut& cut) {
      if (cut.begin < other_branch_) return false;
      if (cut.ended != 0 && one_of(kGoesOn, t)) cut.ended = 0;
      const bool over = cut.ended != 0 || (t == "}" && state_.braces <= cut.braces);
      if (over) end(cut, cut.ended != 0 ? cut.ended : begin);
      return over;
    });
  }

  // --- conditionals

  // Returns the last token of the line.
  size_t directive(size_t hash) {
    size_t last = hash;
    while (!tokens_[last].directive_end && last + 1 < tokens_.size())
      ++last;
    const std::string_view name = last > hash ? word(hash + 1) : std::string_view();
    const std::pair line{tokens_[hash].begin, tokens_[last].end};
    if (name.starts_with("if")) {
      open_.push_back({.lines = {line},
                       .branches = {{.begin = line.second}},
                       .before = state_,
                       .in_enum = !enums_.empty() && enums_.back() == state_.braces});
    } else if (!open_.empty() && (name.starts_with("el") || name == "endif")) {
      finish_branch(line.first);
      open_.back().lines.push_back(line);
      if (name == "endif") {
        close();
      } else {
        open_.back().branches.push_back({.begin = line.second});
        restore(open_.back().before);
        if (other_branch_ == 0 || other_level_ == open_.size()) {
          other_branch_ = line.second;
          other_level_ = open_.size();
        }
      }
    }
    return last;
  }

  void finish_branch(uint32_t at) {
    Conditional& c = open_.back();
    c.branches.back().end = at;
    if (c.branches.size() == 1) {
      c.after_first = state_;
      return;
    }
    // What is cut in another branch than the first is cut in it only.
    std::erase_if(cuts_, [&](Cut& cut) {
      const bool here = cut.begin >= c.branches.back().begin;
      if (here) end(cut, at);
      return here;
    });
  }

  static bool ends_well(const Conditional& c, std::string_view last) {
    return one_of(kEnds, last) || (c.in_enum && last == ",");
  }

  // Whether all branches hold whole elements of a list.
  static bool lists(const Conditional& c) {
    const auto ends = [](std::string_view t) {
      return t == "," || t == "{" || t == "(" || t.empty();
    };
    return ends(c.before.last) &&
           std::all_of(c.branches.begin(), c.branches.end(),
                       [&](const Branch& b) { return ends(b.last) && !one_of(kGoesOn, b.first); });
  }

  void close() {
    if (other_level_ == open_.size()) other_branch_ = other_level_ = 0;
    Conditional c = std::move(open_.back());
    open_.pop_back();
    const State after = state_;
    restore(c.after_first);
    if (state_.last.empty()) state_.last = c.before.last;
    bool even = state_.braces == c.before.braces && state_.others == c.before.others &&
                after.braces == c.before.braces && after.others == c.before.others;
    bool well = ends_well(c, c.before.last);
    for (const Branch& b : c.branches) {
      even = even && b.low_braces >= c.before.braces && b.low_others >= c.before.others;
      well = well && ends_well(c, b.last) && !one_of(kGoesOn, b.first);
    }
    c.unreadable = !even || !well;
    // A header's guard is around all of it, whatever that ends with.
    const bool guard = open_.empty() && c.before.last.empty() && c.branches.size() == 1;
    const bool wraps = guard || (c.branches.size() == 1 && c.branches.front().wraps);
    if (c.unreadable && !wraps && !(even && lists(c))) cut(c);
    if (!open_.empty()) {
      Branch& around = open_.back().branches.back();
      const Branch& shown = c.branches.front();
      lower(around);
      around.low_braces = std::min(around.low_braces, shown.low_braces);
      around.low_others = std::min(around.low_others, shown.low_others);
      around.wraps = around.wraps && shown.wraps;
      if (around.first.empty()) around.first = shown.first;
      if (!shown.last.empty()) around.last = shown.last;
    }
    just_closed_.push_back(done_.size());
    done_.push_back(std::move(c));
  }

  void show_first(const Conditional& c) {
    for (const auto& [begin, end] : c.lines)
      out_.blanks.push_back({.begin = begin, .end = end});
    for (size_t b = 1; b < c.branches.size(); ++b) {
      const Branch& hidden = c.branches[b];
      out_.blanks.push_back({.begin = hidden.begin, .end = hidden.end});
      if (!hidden.first.empty()) out_.unread.emplace_back(hidden.begin, hidden.end);
    }
  }

  std::string_view text_;
  const std::vector<Token>& tokens_;
  const std::vector<bool>& gone_;
  State state_;
  std::vector<Conditional> open_;
  std::vector<Conditional> done_;
  std::vector<size_t> just_closed_;  // in done_: nothing has followed them yet
  std::vector<Cut> cuts_;            // not ended yet
  std::vector<int> enums_;           // how many braces are open in each
  bool enum_head_ = false;
  // Where the outermost branch that is not its conditional's first begins, or 0; and how many
  // conditionals are open there. What is cut before it goes on behind the conditional.
  uint32_t other_branch_ = 0;
  size_t other_level_ = 0;
  Reading out_;
};

}  // namespace

Reading cutting_conditionals(std::string_view text, const std::vector<Token>& tokens,
                             const std::vector<bool>& gone) {
  return ConditionalReader(text, tokens, gone).run();
}

}  // namespace patcher
