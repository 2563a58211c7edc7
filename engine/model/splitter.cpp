#include "model/splitter.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <fmt/format.h>
#include <pcre2.h>

#include <algorithm>
#include <cstdint>

#include "model/utf8.h"

namespace engine::model {
namespace {

constexpr std::size_t kMaxPattern = 65536;
// A sane pattern backtracks over a stretch a few times; 64 steps a byte leave room for that.
constexpr std::size_t kBaseMatchLimit = 1'000'000;
constexpr std::size_t kMatchStepsPerByte = 64;
constexpr std::uint32_t kHeapLimitKiB = 256U << 10U;
constexpr std::size_t kJitStackStart = 32U << 10U;
constexpr std::size_t kJitStackMax = 8U << 20U;

PCRE2_SPTR8 units(std::string_view text) {
  return reinterpret_cast<PCRE2_SPTR8>(text.data());
}

std::string message(int error) {
  PCRE2_UCHAR8 text[256];
  if (pcre2_get_error_message_8(error, text, sizeof text) < 0)
    return fmt::format("error {}", error);
  return reinterpret_cast<const char*>(text);
}

// What one thread needs to match one text.
class Matcher {
 public:
  Matcher(const pcre2_code_8* code, std::string_view text)
      : code_(code),
        text_(text),
        data_(pcre2_match_data_create_from_pattern_8(code, nullptr)),
        context_(pcre2_match_context_create_8(nullptr)),
        stack_(pcre2_jit_stack_create_8(kJitStackStart, kJitStackMax, nullptr)) {
    if (data_ == nullptr || context_ == nullptr) {
      release();
      throw std::bad_alloc();
    }
    const std::size_t limit = kBaseMatchLimit + kMatchStepsPerByte * text.size();
    pcre2_set_match_limit_8(context_,
                            static_cast<std::uint32_t>(std::min<std::size_t>(limit, UINT32_MAX)));
    pcre2_set_heap_limit_8(context_, kHeapLimitKiB);
    if (stack_ != nullptr) pcre2_jit_stack_assign_8(context_, nullptr, stack_);
  }
  Matcher(const Matcher&) = delete;
  Matcher& operator=(const Matcher&) = delete;
  ~Matcher() { release(); }

  // PCRE2's result: negative for no match or an error, else `begin` and `end` hold the match.
  int find(std::size_t from) {
    int found = match(from, 0);
    if (found == PCRE2_ERROR_JIT_STACKLIMIT) found = match(from, PCRE2_NO_JIT);
    return found;
  }
  std::size_t begin() const { return pcre2_get_ovector_pointer_8(data_)[0]; }
  std::size_t end() const { return pcre2_get_ovector_pointer_8(data_)[1]; }

 private:
  int match(std::size_t from, std::uint32_t options) {
    return pcre2_match_8(code_, units(text_), text_.size(), from, options | PCRE2_NO_UTF_CHECK,
                         data_, context_);
  }

  void release() {
    pcre2_match_data_free_8(data_);
    pcre2_match_context_free_8(context_);
    if (stack_ != nullptr) pcre2_jit_stack_free_8(stack_);
  }

  const pcre2_code_8* code_;
  std::string_view text_;
  pcre2_match_data_8* data_;
  pcre2_match_context_8* context_;
  pcre2_jit_stack_8* stack_;
};

}  // namespace

void Splitter::FreeCode::operator()(pcre2_real_code_8* code) const {
  pcre2_code_free_8(code);
}

Splitter::Splitter(const SplitRule& rule, const std::filesystem::path& file, std::string_view place)
    : file_(file), place_(place) {
  if (rule.pattern.empty()) throw ModelError(file, fmt::format("{}: empty pattern", place));
  if (rule.pattern.size() > kMaxPattern) {
    throw ModelError(file, fmt::format("{}: pattern of {} bytes; at most {} are read", place,
                                       rule.pattern.size(), kMaxPattern));
  }
  const std::uint32_t options =
      PCRE2_UTF | (rule.regex ? PCRE2_UCP | PCRE2_NEVER_BACKSLASH_C : PCRE2_LITERAL);
  int error = 0;
  PCRE2_SIZE offset = 0;
  code_.reset(
      pcre2_compile_8(units(rule.pattern), rule.pattern.size(), options, &error, &offset, nullptr));
  if (code_ == nullptr) {
    throw ModelError(file,
                     fmt::format("{}: regex, at offset {}: {}", place, offset, message(error)));
  }
  // Without a just-in-time compiler for this machine, matching is slower and otherwise the same.
  pcre2_jit_compile_8(code_.get(), PCRE2_JIT_COMPLETE);
}

void Splitter::split(std::string_view text, std::vector<std::string_view>& pieces) const {
  Matcher matcher(code_.get(), text);
  std::size_t done = 0;  // pieces cover [0, done)
  std::size_t from = 0;  // the next search begins here
  while (from < text.size()) {
    const int found = matcher.find(from);
    if (found == PCRE2_ERROR_NOMATCH) break;
    if (found < 0) {
      throw ModelError(file_, fmt::format("{}: splitting text, at byte {} of {}: {}", place_, from,
                                          text.size(), message(found)));
    }
    if (matcher.end() <= matcher.begin()) {  // an empty match cuts nothing
      from = matcher.begin() +
             (matcher.begin() < text.size() ? utf8_step(text.substr(matcher.begin())).length : 1);
      continue;
    }
    if (matcher.begin() > done) pieces.push_back(text.substr(done, matcher.begin() - done));
    pieces.push_back(text.substr(matcher.begin(), matcher.end() - matcher.begin()));
    done = from = matcher.end();
  }
  if (done < text.size()) pieces.push_back(text.substr(done));
}

}  // namespace engine::model
