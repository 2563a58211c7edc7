#pragma once

#include <optional>
#include <string>
#include <vector>

#include "patcher/base/verdict.h"
#include "patcher/syntax/source.h"

namespace patcher {

// Why a hunk of one file cannot be placed, put together as it is found out. Borrows the source.
class HunkFailure {
 public:
  // `line`: the hunk's in its patch. `lists`: somebody reads the candidates; looking them up costs.
  HunkFailure(const Source& source, int line, bool lists)
      : source_(source), line_(line), lists_(lists) {}

  // At a byte of the file, or in the file as a whole. The last one counts.
  void at(uint32_t byte, Verdict verdict, std::string message);
  void in_file(Verdict verdict, std::string message);
  // REQUIRES at() or in_file() before, for all of these.
  void hint(std::string text) { finding_->hints.push_back(std::move(text)); }
  // Places to look at; the first few of them are shown.
  void list(const std::vector<uint32_t>& bytes);
  Finding& finding() { return *finding_; }

  std::optional<Finding> take() { return std::move(finding_); }

 private:
  const Source& source_;
  int line_;
  bool lists_;
  std::optional<Finding> finding_;
};

}  // namespace patcher
