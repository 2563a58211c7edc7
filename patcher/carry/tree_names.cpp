#include "patcher/carry/tree_names.h"

#include <algorithm>
#include <array>

#include "patcher/carry/name_uses.h"
#include "patcher/syntax/code_words.h"
#include "patcher/text/lines.h"

namespace patcher {
namespace {

constexpr std::array<std::string_view, 8> kBehindADeclared = {"(", ";", "=", ",",
                                                              "[", ")", "{", ":"};

// Calls look(path, bytes) for each source file as long as it says true.
template <typename Look>
void each_source(const FileMap& tree, Look look) {
  for (const std::string& path : tree.list()) {
    if (choose_language(path, "") == Language::kLines) continue;
    const auto bytes = tree.peek(path, ParseBudget{}.bytes);
    if (bytes && !look(path, *bytes)) return;
  }
}

// Says of each name token whether it is declared, by what is around it.
class DeclarationReader {
 public:
  explicit DeclarationReader(const Source& source) : source_(source) {}

  void read(const NameSet& names, NameSet& out) {
    for (at_ = 0; at_ < source_.code().size(); ++at_) {
      const std::string_view t = word(at_);
      follow_enum(t);
      if (names.contains(t) && declares()) out.emplace(t);
    }
  }

 private:
  std::string_view word(size_t i) const {
    if (i >= source_.code().size()) return "";
    return source_.tokens()[source_.code()[i]].text(source_.bytes());
  }

  // Inside of an enum's braces `enum_` is their number, 1 for its constants.
  void follow_enum(std::string_view t) {
    if (t == "enum") head_ = true;
    if (t == ";" || t == ")") head_ = false;
    if (t == "{" && (head_ || enum_ > 0)) {
      ++enum_;
      head_ = false;
    }
    if (t == "}" && enum_ > 0) --enum_;
  }

  bool declares() const {
    const std::string_view before = at_ > 0 ? word(at_ - 1) : "";
    if (before == "define") return true;
    if (enum_ == 1 && (before == "{" || before == ",")) return true;
    return follows_type(source_, source_.code()[at_]) && one_of(kBehindADeclared, word(at_ + 1));
  }

  const Source& source_;
  size_t at_ = 0;
  bool head_ = false;
  int enum_ = 0;
};

}  // namespace

bool is_whole(const FileMap& tree, const std::vector<std::string>& paths) {
  const auto files = tree.list();
  return std::any_of(files.begin(), files.end(), [&](const std::string& path) {
    return choose_language(path, "") != Language::kLines &&
           std::find(paths.begin(), paths.end(), path) == paths.end();
  });
}

NameSet names_nowhere(NameSet names, const FileMap& tree) {
  if (names.empty()) return names;
  each_source(tree, [&](const std::string& path, const std::string& bytes) {
    NameSet here;
    std::copy_if(names.begin(), names.end(), std::inserter(here, here.end()),
                 [&](const std::string& name) { return has_word(bytes, name); });
    if (here.empty()) return true;
    const Source source(path, bytes);
    for (const uint32_t i : source.code()) {
      const auto found = names.find(source.tokens()[i].text(source.bytes()));
      if (found != names.end()) names.erase(found);
    }
    return !names.empty();
  });
  return names;
}

NameSet names_declared(const NameSet& names, const FileMap& tree) {
  NameSet out;
  if (names.empty()) return out;
  each_source(tree, [&](const std::string& path, const std::string& bytes) {
    if (std::any_of(names.begin(), names.end(),
                    [&](const std::string& name) { return has_word(bytes, name); })) {
      const Source source(path, bytes);
      DeclarationReader(source).read(names, out);
    }
    return out.size() < names.size();
  });
  return out;
}

}  // namespace patcher
