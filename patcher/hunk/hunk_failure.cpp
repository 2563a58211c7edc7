#include "patcher/hunk/hunk_failure.h"

#include <algorithm>

namespace patcher {
namespace {

constexpr size_t kMaxCandidates = 12;

}  // namespace

void HunkFailure::at(uint32_t byte, Verdict verdict, std::string message) {
  finding_ =
      Finding{.verdict = verdict, .place = source_.place(byte), .message = std::move(message)};
  finding_->origin.line = line_;
  finding_->origin.column = 1;
}

void HunkFailure::in_file(Verdict verdict, std::string message) {
  at(0, verdict, std::move(message));
  finding_->place.line = 0;
}

void HunkFailure::list(const std::vector<uint32_t>& bytes) {
  if (!lists_) return;
  for (size_t i = 0; i < std::min(bytes.size(), kMaxCandidates); ++i)
    finding_->candidates.push_back(source_.candidate(bytes[i]));
}

}  // namespace patcher
