#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "patcher/base/verdict.h"
#include "patcher/syntax/scope.h"

namespace patcher {

// A patch file: what it is for, file operations, and a diff whose hunk headers name syntax.
//
//   patch     = header { section }
//   header    = { key ":" text NL { (" " | TAB) text NL | blank } }
//   key       = "Subject" | "Why"                    both required, once, never interpreted
//             | "install"   FILE -> PATH             FILE lies beside the patch, PATH is new
//             | "delete"    PATH [ -> FILE ]         FILE, by default PATH's last component, lies
//                                                    beside the patch and holds what is deleted
//             | "rename"    PATH -> PATH
//             | "mode"      PATH -> 755 | 644        makes it executable, or no longer
//             | "newline"   PATH -> yes | no         whether its last line is to end in a newline
//   section   = "--- " PATH NL "+++ " PATH NL hunk { hunk }   two paths only after a rename
//   hunk      = "@@ " scope { " | " guard } " @@" NL { line }
//   scope     = see scope.h
//   guard     = N " of " M                           the N-th of exactly M places in the scope
//             | "#ifdef FOO" | "#else of FOO" | ...  the place lies in this #if branch
//   line      = " " text | "-" text | "+" text | blank (= " ")
//             | " ..."                               skips balanced tokens inside the block
//
// The anchor is the context and the removed lines. It must hold at least one token, and a hunk that
// only removes must have context before and after, for else its result could not be recognised.
// Lines of one comment or raw string that a hunk changes in part are taken as changed as a whole.
struct HunkLine {
  enum class Kind { kContext, kRemoved, kAdded, kSkip };
  Kind kind = Kind::kContext;
  std::string text = {};
  int line = 0;          // in the patch file
  bool unended = false;  // a foreign diff says that no newline ends it
};

struct Occurrence {
  int index = 1;
  int count = 1;
};

// Where a foreign diff says that one side of a hunk stood.
struct HunkOrigin {
  size_t line = 0;        // its first line, from 1; 0: it says none
  std::string blob = {};  // the beginning of git's name for the file's bytes; empty: it says none
};

struct Hunk {
  ScopeSpec scope = {};
  std::string conditional = {};  // "#ifdef FOO", "#else of FOO"; empty when not stated
  std::optional<Occurrence> occurrence = {};
  // Of a foreign diff, which was taken from a base and keeps its bytes where nothing in the target
  // contradicts them.
  bool foreign = false;
  std::string heading = {};  // the function line that it says stands before
  bool at_begin = false;     // nothing stands before it in the file
  bool at_end = false;       // nothing stands behind it
  // The lines' ends are a part of what it changes: its lines' texts hold their carriage returns.
  bool changes_line_ends = false;
  HunkOrigin before = {};  // of the lines that it removes and keeps
  HunkOrigin after = {};   // of those that it adds and keeps
  std::vector<HunkLine> lines = {};
  int line = 0;
};

struct FileChange {
  std::string path = {};
  std::vector<Hunk> hunks = {};
  int line = 0;
};

struct FileOperation {
  enum class Kind { kInstall, kDelete, kRename, kMode, kNewline };
  Kind kind = Kind::kInstall;
  std::string path = {};     // the path in the tree before (kDelete, kRename) or after (the others)
  std::string to = {};       // kRename: the path after
  std::string beside = {};   // kInstall, kDelete: the file beside the patch
  std::string content = {};  // its bytes
  bool executable = false;   // kInstall, kMode: what it is to be
  bool newline = false;      // kNewline: what its last line is to end in
  bool cr = false;           // kNewline: a diff's has a carriage return
  bool as_said = false;      // kNewline: whatever the line before ends in
  int line = 0;
};

struct Patch {
  std::string name = {};  // as in the series
  std::string subject = {};
  std::string why = {};
  std::vector<FileOperation> operations = {};
  std::vector<FileChange> changes = {};
  std::optional<size_t> strip = {};  // of a foreign diff: as the series says it (see series.h)
  // Malformed, unsafe_path or no_effect; empty for a usable patch.
  std::vector<Finding> errors = {};

  bool usable() const { return errors.empty(); }
};

// Parses a patch file's text. Never throws for what the text says: what is wrong with it is in
// `errors`, all of it. The files beside the patch are not read here (see series.h).
Patch parse_patch(std::string_view name, std::string_view text);

// The patch that undoes this one: removed and added lines change places, and so on. Its scopes may
// be gone after the patch itself renamed them; see judge.h.
Patch reversed(const Patch& patch);

// The patch without what a foreign diff says of the file that it was taken from: for another tree
// than that.
Patch without_origin(const Patch& patch);

// The paths of the tree that the patch names, each once, operations first.
std::vector<std::string> named_paths(const Patch& patch);

// Whether a path may name a file of the tree by its spelling: relative, no empty, `.` or `..`
// component, no backslash, drive letter or control character.
bool is_safe_path(std::string_view path);

}  // namespace patcher
