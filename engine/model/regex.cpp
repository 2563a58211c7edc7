#include "model/regex.h"

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
constexpr std::size_t kNone = static_cast<std::size_t>(-1);

PCRE2_SPTR8 units(std::string_view text) {
  return reinterpret_cast<PCRE2_SPTR8>(text.data());
}

std::string message(int error) {
  PCRE2_UCHAR8 text[256];
  if (pcre2_get_error_message_8(error, text, sizeof text) < 0)
    return fmt::format("error {}", error);
  return reinterpret_cast<const char*>(text);
}

// What a thread needs to match; making it costs more than matching a short piece.
class Workspace {
 public:
  Workspace()
      : data_(pcre2_match_data_create_8(1, nullptr)),
        context_(pcre2_match_context_create_8(nullptr)),
        stack_(pcre2_jit_stack_create_8(kJitStackStart, kJitStackMax, nullptr)) {
    if (data_ == nullptr || context_ == nullptr) {
      release();
      throw std::bad_alloc();
    }
    pcre2_set_heap_limit_8(context_, kHeapLimitKiB);
    if (stack_ != nullptr) pcre2_jit_stack_assign_8(context_, nullptr, stack_);
  }
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;
  ~Workspace() { release(); }

  // PCRE2's result: negative for no match or an error, else `match` holds the match.
  int find(const pcre2_code_8* code, std::string_view text, std::size_t from) {
    const std::size_t limit = kBaseMatchLimit + kMatchStepsPerByte * text.size();
    pcre2_set_match_limit_8(context_,
                            static_cast<std::uint32_t>(std::min<std::size_t>(limit, UINT32_MAX)));
    int found = run(code, text, from, 0);
    if (found == PCRE2_ERROR_JIT_STACKLIMIT) found = run(code, text, from, PCRE2_NO_JIT);
    return found;
  }
  Range match() const {
    const PCRE2_SIZE* const ends = pcre2_get_ovector_pointer_8(data_);
    return {ends[0], ends[1]};
  }

 private:
  int run(const pcre2_code_8* code, std::string_view text, std::size_t from,
          std::uint32_t options) {
    return pcre2_match_8(code, units(text), text.size(), from, options | PCRE2_NO_UTF_CHECK, data_,
                         context_);
  }

  void release() {
    pcre2_match_data_free_8(data_);
    pcre2_match_context_free_8(context_);
    if (stack_ != nullptr) pcre2_jit_stack_free_8(stack_);
  }

  pcre2_match_data_8* data_;
  pcre2_match_context_8* context_;
  pcre2_jit_stack_8* stack_;
};

Workspace& workspace() {
  thread_local Workspace own;
  return own;
}

}  // namespace

void Regex::FreeCode::operator()(pcre2_real_code_8* code) const {
  pcre2_code_free_8(code);
}

Regex::Regex(std::string_view pattern, const std::filesystem::path& file, std::string_view place)
    : file_(file), place_(place) {
  if (pattern.empty()) throw ModelError(file, fmt::format("{}: empty pattern", place));
  if (pattern.size() > kMaxPattern) {
    throw ModelError(file, fmt::format("{}: pattern of {} bytes; at most {} are read", place,
                                       pattern.size(), kMaxPattern));
  }
  const std::uint32_t options = PCRE2_UTF | PCRE2_UCP | PCRE2_MULTILINE | PCRE2_NEVER_BACKSLASH_C;
  int error = 0;
  PCRE2_SIZE offset = 0;
  code_.reset(pcre2_compile_8(units(pattern), pattern.size(), options, &error, &offset, nullptr));
  if (code_ == nullptr) {
    throw ModelError(file,
                     fmt::format("{}: regex, at offset {}: {}", place, offset, message(error)));
  }
  // Without a just-in-time compiler for this machine, matching is slower and otherwise the same.
  pcre2_jit_compile_8(code_.get(), PCRE2_JIT_COMPLETE);
}

std::vector<Range> Regex::matches(std::string_view text) const {
  std::vector<Range> result;
  std::size_t from = 0;
  std::size_t last_end = kNone;
  while (from <= text.size()) {
    const int found = workspace().find(code_.get(), text, from);
    if (found == PCRE2_ERROR_NOMATCH) break;
    if (found < 0) {
      throw ModelError(file_, fmt::format("{}: matching text, at byte {} of {}: {}", place_, from,
                                          text.size(), message(found)));
    }
    const Range match = workspace().match();
    if (match.begin >= match.end && match.end == last_end) {
      from += from < text.size() ? utf8_step(text.substr(from)).length : 1;
      continue;
    }
    result.push_back(match);
    from = last_end = match.end;
  }
  return result;
}

}  // namespace engine::model
