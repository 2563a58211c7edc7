#include "patcher/import/import.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cctype>

#include "patcher/foreign/unified.h"
#include "patcher/import/diff_form.h"
#include "patcher/import/hunk_import.h"
#include "patcher/patch/patch_text.h"
#include "patcher/series/judge.h"
#include "patcher/text/lines.h"

namespace patcher {
namespace {

constexpr size_t kMostLeastContext = 3;

FileState state_of(const std::string& path, const std::string& bytes, mode_t mode) {
  const mode_t bits = (mode & 0111) != 0 ? 0755 : 0644;
  return {.source = std::make_shared<Source>(path, bytes), .mode = bits};
}

class Importer {
 public:
  explicit Importer(const SourceChange& change)
      : change_(change), before_(std::make_shared<FileOrigin>()), after_(before_) {}

  Imported run() {
    for (const FileVersions& file : change_.files)
      check(file);
    if (change_.files.empty()) fail(Verdict::kNoEffect, "", 0, "the change holds no file");
    if (!out_.errors.empty()) return std::move(out_);
    for (const FileVersions& file : change_.files)
      set_up(file);
    std::string why;
    for (const bool parameters : {true, false}) {
      for (size_t least = 0; least <= kMostLeastContext; ++least) {
        out_.errors.clear();
        out_.beside.clear();
        if (write({.least_context = least, .parameters = parameters}) && proven(why))
          return std::move(out_);
        out_.text.clear();
        if (in_damage()) break;  // neither mends it
      }
    }
    if (out_.errors.empty()) {
      fail(Verdict::kMalformed, "", 0, "no anchored patch makes exactly this change: " + why);
    }
    out_.beside.clear();
    keep_diff();
    return std::move(out_);
  }

 private:
  void fail(Verdict verdict, const std::string& path, size_t line, std::string message) {
    out_.errors.push_back(Finding::of(verdict, at_line(change_.name), std::move(message),
                                      {.file = path, .line = static_cast<int>(line)}));
  }

  bool in_damage() const {
    return !out_.errors.empty() && out_.errors.front().verdict == Verdict::kDamagedParse;
  }

  static const std::string& path_of(const FileVersions& file) {
    return file.path_after.empty() ? file.path_before : file.path_after;
  }

  void check(const FileVersions& file) {
    const std::string& path = path_of(file);
    for (const std::string* p : {&file.path_before, &file.path_after}) {
      if (p->empty() || is_safe_path(*p)) continue;
      return fail(Verdict::kUnsafePath, "", 0,
                  fmt::format("`{}` is not a path inside the tree", *p));
    }
    for (const mode_t mode : {file.mode_before, file.mode_after}) {
      if ((mode & S_IFMT) == 0 || S_ISREG(mode)) continue;
      return fail(Verdict::kMalformed, path, 0,
                  S_ISLNK(mode) ? "is a symbolic link" : "is not a regular file");
    }
    for (const std::string* bytes : {&file.before, &file.after}) {
      if (bytes->find('\0') == std::string::npos) continue;
      return fail(Verdict::kMalformed, path, 0, "is binary (it holds a NUL byte)");
    }
  }

  void set_up(const FileVersions& file) {
    if (!file.path_before.empty()) {
      const FileState state = state_of(file.path_before, file.before, file.mode_before);
      before_.put(file.path_before, state);
      if (file.path_before != file.path_after) after_.put(file.path_before, {});
    }
    if (!file.path_after.empty()) {
      after_.put(file.path_after, state_of(file.path_after, file.after, file.mode_after));
    }
  }

  // --- the patch

  bool write(const AnchorStyle& style) {
    Patch patch{.name = change_.name, .subject = change_.subject, .why = change_.why};
    if (patch.why.empty()) patch.why = patch.subject;
    for (const FileVersions& file : change_.files)
      write(file, style, patch);
    if (!out_.errors.empty()) return false;
    out_.text = patch_text(patch);
    return true;
  }

  void write(const FileVersions& file, const AnchorStyle& style, Patch& patch) {
    using Operation = FileOperation::Kind;
    const bool executable = (file.mode_after & 0111) != 0;
    if (file.path_before.empty()) {
      return beside(Operation::kInstall, file.path_after, file.after, executable, patch);
    }
    if (file.path_after.empty()) {
      return beside(Operation::kDelete, file.path_before, file.before,
                    (file.mode_before & 0111) != 0, patch);
    }
    if (file.path_before != file.path_after) {
      patch.operations.push_back(
          {.kind = Operation::kRename, .path = file.path_before, .to = file.path_after});
    }
    if (((file.mode_before & 0111) != 0) != executable) {
      patch.operations.push_back(
          {.kind = Operation::kMode, .path = file.path_after, .executable = executable});
    }
    if (file.before == file.after) return;
    FileVersions rest = file;
    if (file.before.ends_with('\n') != file.after.ends_with('\n') && !file.before.empty()) {
      patch.operations.push_back({.kind = Operation::kNewline,
                                  .path = file.path_after,
                                  .newline = file.after.ends_with('\n')});
      rest.before = with_last_newline(file.before, file.after.ends_with('\n'));
    }
    if (rest.before != rest.after) hunks(rest, style, patch);
  }

  void beside(FileOperation::Kind kind, const std::string& path, const std::string& bytes,
              bool executable, Patch& patch) {
    const std::string stem = change_.name.substr(0, change_.name.rfind(".patch"));
    const std::string name = stem.substr(stem.rfind('/') + 1) + "/" + path;
    patch.operations.push_back({.kind = kind, .path = path, .beside = name});
    out_.beside.push_back({name, bytes, executable});
  }

  void hunks(const FileVersions& file, const AnchorStyle& style, Patch& patch) {
    const Source source(file.path_after, file.before);
    if (!source.unreadable().empty()) {
      return fail(Verdict::kDamagedParse, path_of(file), 0, source.unreadable());
    }
    ImportedHunks made = import_hunks(source, file.after, style);
    if (made.failed_line != 0) {
      return made.damaged ? fail(Verdict::kDamagedParse, path_of(file), made.failed_line,
                                 "the place of this change does not parse")
                          : fail(Verdict::kAmbiguous, path_of(file), made.failed_line,
                                 "no anchor finds this change's place and makes exactly its bytes");
    }
    patch.changes.push_back({.path = file.path_after, .hunks = std::move(made.hunks)});
  }

  // What no anchored patch makes may be made by the diff itself, which a series may hold as well.
  void keep_diff() {
    const std::string text = diff_form(change_);
    const Patch patch = patch_of(change_.name, parse_unified(change_.name, text));
    if (!patch.usable()) return;
    const Judgement judgement = judge(patch, before_);
    if (judgement.verdict != Verdict::kApplies || !judgement.after.same_as(after_)) return;
    const auto back = take_off(patch, judgement.after);
    if (!back || !back->same_as(before_)) return;
    out_.text = text;
    out_.kept_diff = out_.errors.front().message;
    out_.errors.clear();
  }

  // --- the proof

  // Whether the text, read back, makes exactly the versions after out of those before.
  bool proven(std::string& why) const {
    Patch patch = parse_patch(change_.name, out_.text);
    if (!patch.usable()) {
      why = patch.errors.front().message;
      return false;
    }
    for (FileOperation& op : patch.operations) {
      for (const BesideFile& b : out_.beside) {
        if (b.name != op.beside) continue;
        op.content = b.bytes;
        op.executable = b.executable;
      }
    }
    const Judgement judgement = judge(patch, before_);
    if (judgement.verdict == Verdict::kAlreadyApplied) {
      why = "a base with one such comment or blank line counts as applied; one more is no change";
      return false;
    }
    if (judgement.verdict != Verdict::kApplies) {
      const Finding first = explained(judgement.failures.front());
      why = first.message;
      for (const std::string& hint : first.hints)
        why += "; " + hint;
      return false;
    }
    why = "its result differs";
    return judgement.after.same_as(after_);
  }

  const SourceChange& change_;
  FileMap before_;
  FileMap after_;
  Imported out_;
};

}  // namespace

Imported import_change(const SourceChange& change) {
  return Importer(change).run();
}

std::string patch_file_name(size_t number, const std::string& subject) {
  constexpr size_t kMostLetters = 52;
  std::string name;
  for (const char c : subject) {
    if (name.size() >= kMostLetters) break;
    const auto u = static_cast<unsigned char>(c);
    if (u < 0x80 && std::isalnum(u) != 0) {
      name += static_cast<char>(std::tolower(u));
    } else if (!name.empty() && name.back() != '-') {
      name += '-';
    }
  }
  while (name.ends_with('-'))
    name.pop_back();
  return fmt::format("{:04}-{}.patch", number, name.empty() ? "change" : name);
}

}  // namespace patcher
