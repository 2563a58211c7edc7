#include "patcher/patch/patch_text.h"

#include <fmt/format.h>

#include <algorithm>

namespace patcher {
namespace {

using Kind = HunkLine::Kind;
using OpKind = FileOperation::Kind;

// Free text whose further lines are indented, as the format has it.
std::string free_text(std::string_view key, std::string_view text) {
  std::string out = fmt::format("{}: ", key);
  for (const char c : text) {
    out += c;
    if (c == '\n') out += "  ";
  }
  std::string clean;
  for (size_t pos = 0; pos < out.size();) {
    const size_t end = std::min(out.find('\n', pos), out.size());
    std::string line = out.substr(pos, end - pos);
    line.erase(line.find_last_not_of(" \t\r") + 1);
    clean += line + "\n";
    pos = end + 1;
  }
  return clean;
}

std::string hunk_text(const Hunk& hunk) {
  std::string out = "@@ " + hunk.scope.text;
  if (!hunk.conditional.empty()) out += " | " + hunk.conditional;
  if (hunk.occurrence) {
    out += fmt::format(" | {} of {}", hunk.occurrence->index, hunk.occurrence->count);
  }
  out += " @@\n";
  for (const HunkLine& line : hunk.lines) {
    const char mark = line.kind == Kind::kRemoved ? '-' : line.kind == Kind::kAdded ? '+' : ' ';
    // A blank context line is written without its mark, which editors would strip.
    if (mark != ' ' || !line.text.empty()) out += mark;
    out += line.text + "\n";
  }
  return out;
}

std::string path_before(const Patch& patch, const std::string& path) {
  for (const FileOperation& op : patch.operations) {
    if (op.kind == OpKind::kRename && op.to == path) return op.path;
  }
  return path;
}

}  // namespace

std::string operation_text(const FileOperation& op) {
  switch (op.kind) {
    case OpKind::kInstall:
      return fmt::format("install: {} -> {}", op.beside, op.path);
    case OpKind::kDelete:
      return fmt::format("delete: {} -> {}", op.path, op.beside);
    case OpKind::kRename:
      return fmt::format("rename: {} -> {}", op.path, op.to);
    case OpKind::kMode:
      return fmt::format("mode: {} -> {}", op.path, op.executable ? "755" : "644");
    case OpKind::kNewline:
      return fmt::format("newline: {} -> {}", op.path, op.newline ? "yes" : "no");
  }
  return {};
}

std::string patch_text(const Patch& patch) {
  std::string out = free_text("Subject", patch.subject) + free_text("Why", patch.why);
  for (const FileOperation& op : patch.operations)
    out += operation_text(op) + "\n";
  for (const FileChange& change : patch.changes) {
    out += fmt::format("\n--- {}\n+++ {}\n", path_before(patch, change.path), change.path);
    for (const Hunk& hunk : change.hunks)
      out += hunk_text(hunk);
  }
  return out;
}

}  // namespace patcher
