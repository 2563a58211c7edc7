#include "patcher/syntax/syntax_tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>

#include "patcher/syntax/grammar_gap.h"

namespace patcher {
namespace {

struct ParserDelete {
  void operator()(TSParser* parser) const { ts_parser_delete(parser); }
};

const char* read_text(void* payload, uint32_t byte, TSPoint, uint32_t* length) {
  const auto& text = *static_cast<std::string_view*>(payload);
  *length = byte < text.size() ? static_cast<uint32_t>(text.size() - byte) : 0;
  return *length > 0 ? text.data() + byte : "";
}

using Clock = std::chrono::steady_clock;

// What is left of a budget. The parser asks once in a hundred of its actions whether to go on.
struct Remaining {
  static constexpr uint64_t kStepsBetweenAsking = 100;
  uint64_t steps;
  Clock::time_point deadline;
};

bool past_budget(TSParseState* state) {
  Remaining& left = *static_cast<Remaining*>(state->payload);
  left.steps -= std::min(left.steps, Remaining::kStepsBetweenAsking);
  return left.steps == 0 || Clock::now() > left.deadline;
}

// Only byte offsets are ever asked of the trees, so that rows and columns may stay zero.
void mark_edits(TSTree* tree, const std::vector<ByteEdit>& edits) {
  for (auto it = edits.rbegin(); it != edits.rend(); ++it) {
    const auto new_end = static_cast<uint32_t>(it->begin + it->text.size());
    TSInputEdit edit{.start_byte = it->begin,
                     .old_end_byte = it->end,
                     .new_end_byte = new_end,
                     .start_point = {},
                     .old_end_point = {},
                     .new_end_point = {}};
    ts_tree_edit(tree, &edit);
  }
}

TSTree* parse_text(TSParser* parser, TSTree* old, std::string_view text,
                   const ParseBudget& budget) {
  Remaining left{.steps = budget.steps,
                 .deadline = Clock::now() + std::chrono::seconds(budget.seconds)};
  TSParseOptions options{.payload = &left, .progress_callback = past_budget};
  TSInput input{
      .payload = &text, .read = read_text, .encoding = TSInputEncodingUTF8, .decode = nullptr};
  return ts_parser_parse_with_options(parser, old, input, options);
}

// The blanks that no edit touches, where they are after the edits (`shift`) or before them. Nothing
// if an edit changes a part of one: then what is blank is not known from what was.
std::optional<std::vector<Reading::Blank>> untouched(const std::vector<Reading::Blank>& blanks,
                                                     const std::vector<ByteEdit>& edits,
                                                     bool after) {
  std::vector<Reading::Blank> out;
  for (Reading::Blank blank : blanks) {
    int64_t shift = 0;  // of what the edits so far moved
    bool inside = false;
    for (const ByteEdit& e : edits) {
      const int64_t begin = e.begin + (after ? shift : 0);
      const int64_t end = after ? begin + static_cast<int64_t>(e.text.size()) : e.end;
      if (begin >= blank.end && begin > blank.begin) break;
      shift += static_cast<int64_t>(e.text.size()) - (e.end - e.begin);
      if (end <= blank.begin) continue;
      if (blank.begin < begin || end < blank.end) return std::nullopt;
      inside = true;
    }
    if (inside) continue;
    if (!after) {
      blank.begin = static_cast<uint32_t>(blank.begin + shift);
      blank.end = static_cast<uint32_t>(blank.end + shift);
    }
    out.push_back(blank);
  }
  return out;
}

// Whether the text is shown as it was but for the edits.
bool shown_alike(const Reading& old, const Reading& now, const std::vector<ByteEdit>& edits) {
  const auto before = untouched(old.blanks, edits, false);
  return before && before == untouched(now.blanks, edits, true);
}

}  // namespace

std::string ParseBudget::display() const {
  return fmt::format("{} MiB, {} million steps, {} s", bytes >> 20, steps / 1'000'000, seconds);
}

std::shared_ptr<const SyntaxTree> SyntaxTree::parse(std::string_view text, Language language,
                                                    const Reading& reading,
                                                    const ParseBudget& budget,
                                                    const SyntaxTree* old,
                                                    const std::vector<ByteEdit>& edits) {
  if (text.size() > budget.bytes) return nullptr;
  // Kept: what it has allocated serves the next text. Setting the language makes it forget a text
  // that it did not finish.
  thread_local const std::unique_ptr<TSParser, ParserDelete> parser(ts_parser_new());
  ts_parser_set_language(parser.get(), grammar(language));
  const bool reuse = old != nullptr && shown_alike(old->reading_, reading, edits);
  std::unique_ptr<TSTree, TreeDelete> base(reuse ? ts_tree_copy(old->tree_.get()) : nullptr);
  if (base) mark_edits(base.get(), edits);
  const std::string blanked = reading.blanks.empty() ? std::string() : shown(text, reading);
  TSTree* tree =
      parse_text(parser.get(), base.get(), reading.blanks.empty() ? text : blanked, budget);
  if (tree == nullptr) return nullptr;
  return std::shared_ptr<const SyntaxTree>(new SyntaxTree(tree, reading));
}

std::vector<Damage> SyntaxTree::damage() const {
  std::vector<Damage> found;
  walk(root(), [&](TSNode node, int) {
    const uint32_t begin = ts_node_start_byte(node);
    if (!ts_node_has_error(node) && !ts_node_is_missing(node)) return false;
    if (!is_damaged(node)) return true;
    if (ts_node_is_missing(node)) {
      found.push_back({.begin = begin, .end = begin, .missing = true, .what = ts_node_type(node)});
    } else {
      found.push_back({.begin = begin, .end = ts_node_end_byte(node), .what = "ERROR"});
    }
    return false;
  });
  for (const auto& [begin, end] : reading_.unread)
    found.push_back({.begin = begin, .end = end, .what = "CUT"});
  std::stable_sort(found.begin(), found.end(),
                   [](const Damage& a, const Damage& b) { return a.begin < b.begin; });
  return found;
}

std::vector<TSNode> SyntaxTree::chain(uint32_t begin, uint32_t end) const {
  std::vector<TSNode> nodes{root()};
  const TSNode target = ts_node_descendant_for_byte_range(root(), begin, std::max(begin, end - 1));
  while (!ts_node_eq(nodes.back(), target)) {
    const TSNode next = ts_node_child_with_descendant(nodes.back(), target);
    if (ts_node_is_null(next)) break;
    nodes.push_back(next);
  }
  return nodes;
}

TSNode field(TSNode node, std::string_view name) {
  return ts_node_child_by_field_name(node, name.data(), static_cast<uint32_t>(name.size()));
}

bool head_is_damaged(TSNode node) {
  if (!ts_node_has_error(node)) return false;
  const TSNode body = field(node, "body");
  for (uint32_t i = 0; i < ts_node_child_count(node); ++i) {
    const TSNode child = ts_node_child(node, i);
    if (!ts_node_is_null(body) && ts_node_eq(child, body)) continue;
    if (holds_damage(child)) return true;
  }
  return false;
}

}  // namespace patcher
