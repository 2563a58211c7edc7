#pragma once

#include <tree_sitter/api.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "patcher/syntax/grammar_view.h"
#include "patcher/syntax/language.h"
#include "patcher/text/edit.h"

namespace patcher {

// Limits of one parse. A file beyond them is refused ("parse budget"), never waited for. Steps, the
// parser's actions, are the same on every machine; a megabyte of source takes about one million.
// Seconds are the last resort, for text that is no source at all, where a step can take long.
struct ParseBudget {
  size_t bytes = 4u << 20;
  uint64_t steps = 8'000'000;
  int seconds = 10;

  // "4 MiB, 8 million steps, 10 s"
  std::string display() const;
};

// A region that the grammar could not make sense of.
struct Damage {
  uint32_t begin = 0;
  uint32_t end = 0;
  bool missing = false;   // a token that the grammar put in, so begin == end
  std::string what = {};  // "ERROR", the missing token, or "CUT" (grammar_view.h)
};

// One parsed text: owns the Tree-sitter tree, not the text. All walks are iterative, so that depth
// of nesting in a file costs memory and never the stack. Immutable after parse().
class SyntaxTree {
 public:
  // Null when the budget was exceeded. REQUIRES language != kLines. The grammar is shown the text
  // with the blanks of `reading`. With `old` and the edits that made `text` from its text,
  // re-parses only what changed.
  static std::shared_ptr<const SyntaxTree> parse(std::string_view text, Language language,
                                                 const Reading& reading = {},
                                                 const ParseBudget& budget = {},
                                                 const SyntaxTree* old = nullptr,
                                                 const std::vector<ByteEdit>& edits = {});

  TSNode root() const { return ts_tree_root_node(tree_.get()); }
  const Reading& reading() const { return reading_; }
  // Every ERROR and MISSING node that is no grammar gap (grammar_gap.h), and everything unread
  // (grammar_view.h), in order; an ERROR's inside is not looked into.
  std::vector<Damage> damage() const;
  // The root, then each node down to the smallest one that covers [begin, end).
  std::vector<TSNode> chain(uint32_t begin, uint32_t end) const;

 private:
  struct TreeDelete {
    void operator()(TSTree* tree) const { ts_tree_delete(tree); }
  };
  SyntaxTree(TSTree* tree, Reading reading) : tree_(tree), reading_(std::move(reading)) {}
  std::unique_ptr<TSTree, TreeDelete> tree_;
  Reading reading_;
};

// A depth-first walk: visit(node, depth) returns whether to go into the node's children.
template <typename Visit>
void walk(TSNode root, Visit visit) {
  TSTreeCursor cursor = ts_tree_cursor_new(root);
  int depth = 0;
  for (bool more = true; more;) {
    const bool enter = visit(ts_tree_cursor_current_node(&cursor), depth);
    if (enter && ts_tree_cursor_goto_first_child(&cursor)) {
      ++depth;
      continue;
    }
    while (depth > 0 && !ts_tree_cursor_goto_next_sibling(&cursor)) {
      ts_tree_cursor_goto_parent(&cursor);
      --depth;
    }
    more = depth > 0;
  }
  ts_tree_cursor_delete(&cursor);
}

// The child in a field, or a null node.
TSNode field(TSNode node, std::string_view name);
// Whether a definition holds damage outside of its body.
bool head_is_damaged(TSNode definition);
inline std::string_view type_of(TSNode node) {
  return ts_node_type(node);
}

}  // namespace patcher
