#include "patcher/patch/patch_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "patcher/text/lines.h"

namespace patcher {
namespace {

using Kind = HunkLine::Kind;

void add(std::vector<Fault>& faults, int line, std::string message,
         Verdict verdict = Verdict::kMalformed) {
  faults.push_back({line, std::move(message), verdict});
}

bool deletion_is_framed(const Hunk& hunk) {
  const auto frames = [](const HunkLine& l) {
    return l.kind == Kind::kContext && !is_blank(l.text);
  };
  const auto removed = [](const HunkLine& l) { return l.kind == Kind::kRemoved; };
  const auto first = std::find_if(hunk.lines.begin(), hunk.lines.end(), removed);
  const auto last = std::find_if(hunk.lines.rbegin(), hunk.lines.rend(), removed);
  // A file's begin or end is as good as a line.
  return (hunk.at_begin || std::any_of(hunk.lines.begin(), first, frames)) &&
         (hunk.at_end || std::any_of(hunk.lines.rbegin(), last, frames));
}

bool sides_equal(const Hunk& hunk) {
  std::vector<std::string_view> before, after;
  for (const HunkLine& l : hunk.lines) {
    if (l.kind != Kind::kAdded) before.push_back(l.text);
    if (l.kind != Kind::kRemoved) after.push_back(l.text);
  }
  return before == after;
}

void check_skips(const Hunk& hunk, std::vector<Fault>& faults) {
  for (size_t i = 0; i < hunk.lines.size(); ++i) {
    if (hunk.lines[i].kind != Kind::kSkip) continue;
    const bool edge = i == 0 || i + 1 == hunk.lines.size();
    if (edge || hunk.lines[i + 1].kind == Kind::kSkip) {
      add(faults, hunk.lines[i].line, "`...` stands between two anchor lines");
    }
  }
}

Hunk reversed(Hunk hunk) {
  for (HunkLine& line : hunk.lines) {
    if (line.kind == Kind::kRemoved) {
      line.kind = Kind::kAdded;
    } else if (line.kind == Kind::kAdded) {
      line.kind = Kind::kRemoved;
    }
  }
  std::swap(hunk.before, hunk.after);
  return hunk;
}

// Such an operation stands beside a rename, or hunks.
bool changes_attribute(const FileOperation& op) {
  return op.kind == FileOperation::Kind::kMode || op.kind == FileOperation::Kind::kNewline;
}

FileOperation reversed(FileOperation op) {
  using OpKind = FileOperation::Kind;
  switch (op.kind) {
    case OpKind::kInstall:
      op.kind = OpKind::kDelete;
      break;
    case OpKind::kDelete:
      op.kind = OpKind::kInstall;
      break;
    case OpKind::kRename:
      std::swap(op.path, op.to);
      break;
    case OpKind::kMode:
      op.executable = !op.executable;
      break;
    case OpKind::kNewline:
      op.newline = !op.newline;
      break;
  }
  return op;
}

}  // namespace

std::vector<Fault> hunk_faults(const Hunk& hunk) {
  std::vector<Fault> faults;
  const auto has = [&](Kind kind) {
    return std::any_of(hunk.lines.begin(), hunk.lines.end(), [&](const HunkLine& l) {
      return l.kind == kind && (hunk.foreign || !is_blank(l.text));
    });
  };
  const bool removed = std::any_of(hunk.lines.begin(), hunk.lines.end(),
                                   [](const auto& l) { return l.kind == Kind::kRemoved; });
  const bool added = std::any_of(hunk.lines.begin(), hunk.lines.end(),
                                 [](const auto& l) { return l.kind == Kind::kAdded; });
  if (!removed && !added) {
    add(faults, hunk.line, "the hunk has no `-` and no `+` line", Verdict::kNoEffect);
  } else if (!has(Kind::kContext) && !has(Kind::kRemoved)) {
    add(faults, hunk.line, "the hunk has no anchor: it needs a context or a removed line");
  } else if (removed && !added && !deletion_is_framed(hunk)) {
    add(faults, hunk.line, "a hunk that only removes needs context before and after");
  } else if (sides_equal(hunk)) {
    add(faults, hunk.line, "the added lines equal the removed ones", Verdict::kNoEffect);
  }
  check_skips(hunk, faults);
  return faults;
}

std::vector<Fault> patch_faults(const Patch& patch) {
  std::vector<Fault> faults;
  if (patch.operations.empty() && patch.changes.empty()) {
    add(faults, 1, "the patch changes nothing", Verdict::kNoEffect);
  }
  std::set<std::string> made;
  for (const FileOperation& op : patch.operations) {
    const std::string& to = op.kind == FileOperation::Kind::kRename ? op.to : op.path;
    if (changes_attribute(op)) continue;
    const bool twice = !made.insert(to).second || (to != op.path && !made.insert(op.path).second);
    if (twice) add(faults, op.line, fmt::format("`{}` is named twice", to));
  }
  for (const FileChange& change : patch.changes) {
    for (const FileOperation& op : patch.operations) {
      if (op.path == change.path && !changes_attribute(op)) {
        add(faults, change.line,
            fmt::format("`{}` cannot have hunks, see line {}", op.path, op.line));
      }
    }
  }
  return faults;
}

std::vector<std::string> named_paths(const Patch& patch) {
  std::vector<std::string> paths;
  const auto add = [&](const std::string& path) {
    if (std::find(paths.begin(), paths.end(), path) == paths.end()) paths.push_back(path);
  };
  for (const FileOperation& op : patch.operations) {
    add(op.path);
    if (!op.to.empty()) add(op.to);
  }
  for (const FileChange& change : patch.changes)
    add(change.path);
  return paths;
}

Patch reversed(const Patch& patch) {
  Patch out = patch;
  for (FileOperation& op : out.operations) {
    for (const FileOperation& before : patch.operations) {
      const bool renamed = before.kind == FileOperation::Kind::kRename && before.to == op.path;
      if (renamed && changes_attribute(op)) op.path = before.path;
    }
    op = reversed(std::move(op));
  }
  for (FileChange& change : out.changes) {
    for (const FileOperation& op : patch.operations) {
      if (op.kind == FileOperation::Kind::kRename && op.to == change.path) change.path = op.path;
    }
    for (Hunk& hunk : change.hunks)
      hunk = reversed(std::move(hunk));
  }
  return out;
}

Patch without_origin(const Patch& patch) {
  Patch out = patch;
  for (FileChange& change : out.changes) {
    for (Hunk& hunk : change.hunks)
      hunk.before = hunk.after = {};
  }
  return out;
}

bool is_safe_path(std::string_view path) {
  if (path.empty() || path.front() == '/' || path.back() == '/') return false;
  if (path.size() > 1 && path[1] == ':') return false;
  for (char c : path) {
    if (c == '\\' || static_cast<unsigned char>(c) < 0x20 || c == 0x7f) return false;
  }
  for (size_t begin = 0; begin <= path.size();) {
    const size_t end = std::min(path.find('/', begin), path.size());
    const std::string_view part = path.substr(begin, end - begin);
    if (part.empty() || part == "." || part == ".." || part == ".git") return false;
    begin = end + 1;
  }
  return !path.starts_with(".patcher-");
}

}  // namespace patcher
