#include "patcher/carry/function_locals.h"

#include <algorithm>
#include <set>

#include "patcher/carry/name_uses.h"
#include "patcher/syntax/code_words.h"

namespace patcher {
namespace {

const std::set<std::string_view> kEnds = {"=", ";", ",", ")", "[", "{", ":"};
const std::set<std::string_view> kBegins = {";", "{", "}"};

// Reads one function's tokens from its begin to its end.
class Reader {
 public:
  Reader(const Source& source, const Scope& function) : source_(source) {
    const auto& tokens = source.tokens();
    for (const uint32_t i : source.code()) {
      if (function.begin <= tokens[i].begin && tokens[i].begin < function.end) code_.push_back(i);
    }
  }

  template <typename Use>
  void read(std::vector<size_t>& around, Use use) {
    std::vector<size_t> open = {0};
    around = {0};
    for (at_ = 0; at_ < code_.size(); ++at_) {
      const std::string_view t = text(at_);
      if (is_name(t) && !is_member(source_, code_[at_])) {
        use(t, FunctionLocals::Mention{code_[at_], open.back(), declares()});
      }
      if (t == "{") {
        around.push_back(open.back());
        open.push_back(around.size() - 1);
        in_body_ = true;
      } else if (t == "}" && open.size() > 1) {
        open.pop_back();
      }
      follow(t);
    }
  }

 private:
  std::string_view text(size_t i) const {
    return i < code_.size() ? source_.tokens()[code_[i]].text(source_.bytes()) : ";";
  }

  bool declares() {
    if (!kEnds.contains(text(at_ + 1)) || (in_body_ && text(at_ + 1) == "{")) return false;
    if (list_ && depth_ == 0 && is_next_of_list()) return true;
    if (!follows_type(source_, code_[at_])) return false;
    size_t type = at_ - 1;
    while (type > 0 && (text(type) == "*" || text(type) == "&"))
      --type;
    const std::string_view before = type > 0 ? text(type - 1) : ";";
    const bool begins =
        kBegins.contains(before) || is_declaring(before) || is_declaring(text(type));
    const bool certain = in_body_ ? begins : begins || before == "(" || before == ",";
    if (certain && in_body_) {
      list_ = true;
      depth_ = 0;
    }
    return certain;
  }

  // `b` of `int a = f(1), *b;`
  bool is_next_of_list() const {
    size_t i = at_;
    while (i > 0 && text(i - 1) == "*")
      --i;
    return i > 0 && text(i - 1) == ",";
  }

  // Keeps up with whether a declaration's list of names goes on.
  void follow(std::string_view t) {
    if (t == "(" || t == "[" || t == "{") ++depth_;
    if (t == ")" || t == "]" || t == "}") --depth_;
    if (t == ";" || depth_ < 0) list_ = false;
  }

  const Source& source_;
  std::vector<uint32_t> code_;
  size_t at_ = 0;
  bool in_body_ = false;
  bool list_ = false;
  int depth_ = 0;
};

}  // namespace

FunctionLocals::FunctionLocals(const Source& source, const Scope& function) {
  Reader(source, function).read(around_, [&](std::string_view name, const Mention& m) {
    mentions_[name].push_back(m);
  });
}

const std::vector<FunctionLocals::Mention>& FunctionLocals::mentions(std::string_view name) const {
  static const std::vector<Mention> kNone;
  const auto found = mentions_.find(name);
  return found == mentions_.end() ? kNone : found->second;
}

std::vector<std::string_view> FunctionLocals::declared() const {
  std::vector<std::string_view> out;
  for (const auto& [name, all] : mentions_) {
    if (std::any_of(all.begin(), all.end(), [](const Mention& m) { return m.declares; }))
      out.push_back(name);
  }
  return out;
}

size_t FunctionLocals::declarations(std::string_view name) const {
  const auto& all = mentions(name);
  return static_cast<size_t>(
      std::count_if(all.begin(), all.end(), [](const Mention& m) { return m.declares; }));
}

bool FunctionLocals::is_around(size_t outer, size_t inner) const {
  while (inner > outer)
    inner = around_[inner];
  return inner == outer;
}

bool FunctionLocals::reaches(const Mention& m, const Mention& use) const {
  return m.token <= use.token && is_around(m.block, use.block);
}

bool FunctionLocals::is_of_another(std::string_view name, const Mention& m,
                                   const Mention& use) const {
  const auto& all = mentions(name);
  return std::any_of(all.begin(), all.end(), [&](const Mention& d) {
    return d.declares && reaches(d, m) && !reaches(d, use);
  });
}

}  // namespace patcher
