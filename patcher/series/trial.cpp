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

  // Gives false: what failed is not done.
  bool fail(Verdict verdict, int line, const std::string& path, std::string message) {
    out_.failures.push_back({.finding = Finding::of(verdict, at_line(patch_.name, line),
                                                    std::move(message), {.file = path})});
    return false;
  }

  FileState get(const std::string& path, int line, bool& usable) {
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
    part.done = part.changes = usable && (op.kind == OpKind::kInstall  ? install(op, state)
                                          : op.kind == OpKind::kRename ? rename(op, state)
                                                                       : change(op, state));
    out_.parts.push_back(part);
  }

  bool absent(int line, const std::string& path) {
    return fail(Verdict::kFileMissing, line, path, "is not in the tree");
  }

  bool install(const FileOperation& op, const FileState& state) {
    if (state.exists()) {
      const bool same = state.source->bytes() == op.content;
      return fail(
          Verdict::kOutdated, op.line, op.path,
          same ? "is there already"
               : fmt::format("is there and differs from {}", copy_of(op, "what the diff adds")));
    }
    const mode_t mode = op.executable ? 0755 : 0644;
    out_.after.put(op.path,
                   {.source = std::make_shared<Source>(op.path, op.content), .mode = mode});
    return true;
  }

  bool rename(const FileOperation& op, FileState state) {
    bool usable = false;
    const FileState there = get(op.to, op.line, usable);
    if (!usable) return false;
    if (!state.exists()) return absent(op.line, op.path);
    if (there.exists()) return fail(Verdict::kOutdated, op.line, op.to, "is there already");
    state.source = std::make_shared<Source>(op.to, state.source->bytes());
    out_.after.put(op.to, std::move(state));
    out_.after.put(op.path, {});
    return true;
  }

  // What is done to one file that is there.
  bool change(const FileOperation& op, FileState state) {
    if (!state.exists()) return absent(op.line, op.path);
    const bool good = op.kind == OpKind::kDelete ? remove(op, state)
                      : op.kind == OpKind::kMode ? change_mode(op, state)
                                                 : change_newline(op, state);
    if (good) out_.after.put(op.path, std::move(state));
    return good;
  }

  bool remove(const FileOperation& op, FileState& state) {
    if (state.source->bytes() != op.content) {
      return fail(Verdict::kMissing, op.line, op.path,
                  fmt::format("differs from {}, the copy of what is deleted",
                              copy_of(op, "the lines of the diff")));
    }
    state = {};
    return true;
  }

  bool change_mode(const FileOperation& op, FileState& state) {
    const bool executable = (state.mode & 0111) != 0;
    if (executable == op.executable) {
      return fail(Verdict::kOutdated, op.line, op.path,
                  executable ? "is executable already" : "is not executable");
    }
    // Who may read it may execute it, as chmod +x has it with the usual masks.
    state.mode = executable ? state.mode & ~0111U : state.mode | ((state.mode & 0444) >> 2);
    return true;
  }

  bool change_newline(const FileOperation& op, FileState& state) {
    const std::string& bytes = state.source->bytes();
    if (bytes.ends_with('\n') == op.newline || bytes.empty()) {
      return fail(Verdict::kOutdated, op.line, op.path,
                  op.newline ? "ends in a newline already" : "does not end in a newline");
    }
    const bool as_said = op.as_said || bytes.find('\n') == std::string::npos;
    state.source = std::make_shared<Source>(op.path, op.newline && as_said
                                                         ? bytes + (op.cr ? "\r\n" : "\n")
                                                         : with_last_newline(bytes, op.newline));
    return true;
  }

  // --- hunks

  void file(const FileChange& change) {
    bool usable = false;
    const FileState state = get(change.path, change.line, usable);
    if (usable && !state.exists()) absent(change.line, change.path);
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
