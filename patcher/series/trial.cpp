// try_patch: operations first, then the hunks of each file, all judged on the state before.
#include <fmt/format.h>

#include <algorithm>

#include "patcher/patch/patch_text.h"
#include "patcher/series/judge.h"
#include "patcher/text/lines.h"

namespace patcher {
namespace {

using OpKind = FileOperation::Kind;

// The file beside the patch, or what stands in for it: a diff holds the bytes itself.
std::string copy_of(const FileOperation& op, const char* in_diff) {
  return op.beside.empty() ? in_diff : op.beside;
}

// What the caller reads of a trial; what nobody reads is not computed.
enum class Wanted { kAll, kParts, kWhole };

class TrialRun {
 public:
  TrialRun(const Patch& patch, const FileMap& before, ScopeRule rule, TrialCache& cache,
           Wanted wanted)
      : patch_(patch), rule_(rule), cache_(cache), wanted_(wanted), out_{.after = before} {}

  Trial run() {
    for (const FileOperation& op : patch_.operations) {
      if (!decided()) operation(op);
    }
    const auto operations = std::ssize(out_.parts);
    for (size_t i = 0; i < patch_.changes.size() && !decided(); ++i) {
      const auto done = std::ssize(out_.parts);
      file(patch_.changes[undoes() ? patch_.changes.size() - 1 - i : i]);
      if (!undoes()) continue;
      const auto parts = out_.parts.begin();
      std::rotate(parts + operations, parts + done, out_.parts.end());
    }
    return std::move(out_);
  }

 private:
  bool decided() const { return wanted_ == Wanted::kWhole && !out_.ok(); }

  // The last section of a file was made on the result of those before it, and is undone first; the
  // parts keep the patch's order.
  bool undoes() const { return rule_ == ScopeRule::kUndo; }

  void fail(Verdict verdict, int line, const std::string& path, std::string message) {
    out_.failures.push_back({.finding = Finding::of(verdict, at_line(patch_.name, line),
                                                    std::move(message), {.file = path})});
  }

  FileState get(const std::string& path, int line, bool& usable) {
    out_.paths.push_back(path);
    FileState state = out_.after.get(path);
    usable = state.unsafe.empty() && state.same_file.empty();
    if (!state.unsafe.empty()) fail(Verdict::kUnsafePath, line, path, state.unsafe);
    if (!state.same_file.empty()) {
      fail(Verdict::kOverlaps, line, path,
           fmt::format("is the same file on disk as {}", state.same_file));
    }
    return state;
  }

  // --- operations

  void operation(const FileOperation& op) {
    TrialPart part{.evidence = {.code = 1},
                   .what = fmt::format("`{}` (line {})", operation_text(op), op.line)};
    bool usable = false;
    const FileState state = get(op.path, op.line, usable);
    if (usable) {
      switch (op.kind) {
        case OpKind::kInstall:
          part.done = install(op, state);
          break;
        case OpKind::kDelete:
          part.done = remove(op, state);
          break;
        case OpKind::kRename:
          part.done = rename(op, state);
          break;
        case OpKind::kMode:
          part.done = change_mode(op, state);
          break;
        case OpKind::kNewline:
          part.done = change_newline(op, state);
          break;
      }
    }
    part.changes = part.done;
    out_.parts.push_back(part);
  }

  bool install(const FileOperation& op, const FileState& state) {
    if (state.exists()) {
      const bool same = state.source->bytes() == op.content;
      fail(Verdict::kOutdated, op.line, op.path,
           same ? "is there already"
                : fmt::format("is there and differs from {}", copy_of(op, "what the diff adds")));
      return false;
    }
    const mode_t mode = op.executable ? 0755 : 0644;
    out_.after.put(op.path,
                   {.source = std::make_shared<Source>(op.path, op.content), .mode = mode});
    return true;
  }

  bool remove(const FileOperation& op, const FileState& state) {
    if (!state.exists()) {
      fail(Verdict::kFileMissing, op.line, op.path, "is not in the tree");
      return false;
    }
    if (state.source->bytes() != op.content) {
      fail(Verdict::kMissing, op.line, op.path,
           fmt::format("differs from {}, the copy of what is deleted",
                       copy_of(op, "the lines of the diff")));
      return false;
    }
    out_.after.put(op.path, {});
    return true;
  }

  bool rename(const FileOperation& op, const FileState& state) {
    bool usable = false;
    const FileState there = get(op.to, op.line, usable);
    if (!usable) return false;
    if (!state.exists()) {
      fail(Verdict::kFileMissing, op.line, op.path, "is not in the tree");
      return false;
    }
    if (there.exists()) {
      fail(Verdict::kOutdated, op.line, op.to, "is there already");
      return false;
    }
    FileState moved = state;
    moved.source = std::make_shared<Source>(op.to, state.source->bytes());
    out_.after.put(op.to, moved);
    out_.after.put(op.path, {});
    return true;
  }

  bool change_mode(const FileOperation& op, const FileState& state) {
    if (!state.exists()) {
      fail(Verdict::kFileMissing, op.line, op.path, "is not in the tree");
      return false;
    }
    const bool executable = (state.mode & 0111) != 0;
    if (executable == op.executable) {
      fail(Verdict::kOutdated, op.line, op.path,
           executable ? "is executable already" : "is not executable");
      return false;
    }
    FileState next = state;
    // Who may read it may execute it, as chmod +x has it with the usual masks.
    next.mode = executable ? state.mode & ~0111U : state.mode | ((state.mode & 0444) >> 2);
    out_.after.put(op.path, std::move(next));
    return true;
  }

  bool change_newline(const FileOperation& op, const FileState& state) {
    if (!state.exists()) {
      fail(Verdict::kFileMissing, op.line, op.path, "is not in the tree");
      return false;
    }
    const std::string& bytes = state.source->bytes();
    if (bytes.ends_with('\n') == op.newline || bytes.empty()) {
      fail(Verdict::kOutdated, op.line, op.path,
           op.newline ? "ends in a newline already" : "does not end in a newline");
      return false;
    }
    FileState next = state;
    const bool as_said = op.as_said || bytes.find('\n') == std::string::npos;
    next.source = std::make_shared<Source>(op.path, op.newline && as_said
                                                        ? bytes + (op.cr ? "\r\n" : "\n")
                                                        : with_last_newline(bytes, op.newline));
    out_.after.put(op.path, std::move(next));
    return true;
  }

  // --- hunks

  void file(const FileChange& change) {
    bool usable = false;
    const FileState state = get(change.path, change.line, usable);
    if (usable && !state.exists()) {
      fail(Verdict::kFileMissing, change.line, change.path, "is not in the tree");
    }
    const auto source = usable ? state.source : nullptr;
    const SectionTrial& tried = cache_.trial(patch_, change, source, rule_);
    out_.parts.insert(out_.parts.end(), tried.parts.begin(), tried.parts.end());
    out_.failures.insert(out_.failures.end(), tried.failures.begin(), tried.failures.end());
    if (!source || !tried.failures.empty() || !needs_result(change)) return;
    const SectionResult& result = cache_.result(patch_, change, source, rule_);
    if (result.failure) return out_.failures.push_back({.finding = *result.failure});
    if (result.note) out_.notes.push_back(*result.note);
    FileState next = state;
    next.source = result.after;
    out_.after.put(change.path, std::move(next));
  }

  // Another section for the same file may be tried on the result of this one.
  bool needs_result(const FileChange& change) const {
    return wanted_ != Wanted::kParts ||
           std::any_of(patch_.changes.begin(), patch_.changes.end(), [&](const FileChange& other) {
             return &other != &change && other.path == change.path;
           });
  }

  const Patch& patch_;
  ScopeRule rule_;
  TrialCache& cache_;
  Wanted wanted_;
  Trial out_;
};

}  // namespace

Trial try_patch(const Patch& patch, const FileMap& before, ScopeRule rule, TrialCache& cache) {
  return TrialRun(patch, before, rule, cache, Wanted::kAll).run();
}

std::vector<TrialPart> try_parts(const Patch& patch, const FileMap& before, ScopeRule rule,
                                 TrialCache& cache) {
  return TrialRun(patch, before, rule, cache, Wanted::kParts).run().parts;
}

std::optional<Trial> try_whole(const Patch& patch, const FileMap& before, ScopeRule rule,
                               TrialCache& cache) {
  Trial trial = TrialRun(patch, before, rule, cache, Wanted::kWhole).run();
  return trial.ok() ? std::optional(std::move(trial)) : std::nullopt;
}

}  // namespace patcher
