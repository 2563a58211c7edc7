#include "model/oniguruma.h"

#include <fmt/format.h>

namespace engine::model {
namespace {

constexpr std::string_view kWord = R"(\p{L}\p{M}\p{Nd}\p{Pc})";
constexpr std::string_view kHexDigit = "0-9A-Fa-f";

class Translation {
 public:
  Translation(std::string_view pattern, const std::filesystem::path& file, std::string_view place)
      : pattern_(pattern), file_(file), place_(place) {}

  std::string run() {
    while (at_ < pattern_.size()) {
      if (pattern_[at_] == '\\') {
        escape();
      } else if (in_set_) {
        in_set();
      } else {
        outside();
      }
    }
    return std::move(out_);
  }

 private:
  bool next_is(std::string_view text) const { return pattern_.substr(at_).starts_with(text); }

  void copy(std::size_t count) {
    const std::string_view part = pattern_.substr(at_, count);
    out_ += part;
    at_ += part.size();
  }

  [[noreturn]] void refuse(std::string_view what) const {
    throw ModelError(file_,
                     fmt::format("{}: regex, at offset {}: {} not supported", place_, at_, what));
  }

  void escape() {
    const char kind = at_ + 1 < pattern_.size() ? pattern_[at_ + 1] : '\0';
    if (kind == 's') {
      replace(R"(\p{White_Space})");
    } else if (kind == 'S') {
      replace(R"(\P{White_Space})");
    } else if (kind == 'w' || kind == 'h') {
      const std::string_view members = kind == 'w' ? kWord : kHexDigit;
      replace(in_set_ ? std::string(members) : fmt::format("[{}]", members));
    } else if (kind == 'W' || kind == 'H') {
      if (in_set_) refuse(fmt::format("\\{} in a set is", kind));
      replace(fmt::format("[^{}]", kind == 'W' ? kWord : kHexDigit));
    } else {
      copy(2);
      if (next_is("{")) copy(pattern_.find('}', at_) - at_ + 1);  // \p{..}, \x{..}
    }
  }

  void replace(std::string_view text) {
    out_ += text;
    at_ += 2;
  }

  void in_set() {
    if (next_is("&&")) refuse("an intersection of sets is");
    if (next_is("[:")) {
      const std::size_t end = pattern_.find(":]", at_);
      if (end == std::string_view::npos) refuse("a set inside of a set is");
      return copy(end + 2 - at_);
    }
    if (next_is("[")) refuse("a set inside of a set is");
    in_set_ = !next_is("]");
    copy(1);
  }

  void outside() {
    if (next_is("[")) {
      in_set_ = true;
      copy(next_is("[^") ? 2 : 1);
      if (next_is("]")) copy(1);  // a member, as the first
      return;
    }
    if (next_is("}+")) refuse("a repeated count is");
    if (next_is("(?")) {
      const std::size_t end = pattern_.find_first_not_of("imsxadu-", at_ + 2);
      const std::string_view options = pattern_.substr(at_ + 2, end - (at_ + 2));
      if (options.find_first_of("msadu") != std::string_view::npos)
        refuse(fmt::format("the option \"{}\" is", options));
    }
    copy(1);
  }

  std::string_view pattern_;
  const std::filesystem::path& file_;
  std::string_view place_;
  std::size_t at_ = 0;
  bool in_set_ = false;
  std::string out_;
};

}  // namespace

std::string from_oniguruma(std::string_view pattern, const std::filesystem::path& file,
                           std::string_view place) {
  return Translation(pattern, file, place).run();
}

}  // namespace engine::model
