// Parts that look alike: entries of a table, cases, blocks, launches, functions that a grammar does
// not see, keys, paragraphs. A patch changes one of them, upstream removes, swaps, copies, renames
// or changes some. Wherever carry, or check and apply with a base, put the patch, it must be in the
// part that it was made in; a refusal is no failure, and counted.
//
// SIBLING_TRIALS=N runs N trials of each kind instead of a few hundred.
#include <algorithm>
#include <cstdlib>
#include <functional>
#include <random>

#include <fmt/format.h>

#include "patcher/carry/base_review.h"
#include "patcher/foreign/unified.h"
#include "patcher/series/plan.h"
#include "patcher/text/lines.h"
#include "tests/patcher/one_file.h"
#include "tests/patcher/scratch.h"

namespace patcher {
namespace {

using Texts = std::vector<std::string>;

FileMap tree(const std::string& bytes) {
  return FileMap(std::make_shared<OneFile>(bytes));
}

// A kind of parts: what stands around them, and one with its name and the lines that it holds.
struct Kind {
  const char* name;
  const char* path;
  const char* head;
  const char* tail;
  const char* begin;  // {} is the part's name
  const char* line;   // {} is a line's text
  const char* end;
  const char* named;  // the line that has the name, where none of the above has it
};

constexpr Kind kKinds[] = {
    {"Table", "t.c", "static const struct op ops[] = {\n", "};\n", "    {{\n", "        .{} = 0,\n",
     "    }},\n", "        .name = \"{}\",\n"},
    {"Cases", "t.c", "int run(struct st *s, int op)\n{\n  switch (op) {\n",
     "  default:\n    fail(s);\n  }\n  return 0;\n}\n", "  case {}:\n", "    {}(s);\n",
     "    break;\n", nullptr},
    {"Blocks", "t.c", "int run(struct st *s)\n{\n  start(s);\n", "  return 0;\n}\n",
     "  if (ask(s, {})) {{\n", "    {}(s);\n", "  }}\n", nullptr},
    {"Launches", "t.cu", "void go(float* p, int n) {\n", "}\n", "  LAUNCH({}, grid, block)\n  {{\n",
     "    args.{} = n;\n", "  }}\n", nullptr},
    {"Functions", "t.cpp", "#include \"pool.h\"\n\n", "", "void {}() {{\n", "  {}(1);\n", "}}\n\n",
     nullptr},
    {"TestMacros", "t.c", "#include \"test.h\"\n\n", "", "TEST({}) {{\n", "        {}(1);\n",
     "}}\n\n", nullptr},
    {"Kernels", "t.cu", "#include \"k.h\"\n\n", "",
     "template <int nt>\nLAUNCH_BOUNDS(nt, 4)\n__global__ void {}(float* p, int n) {{\n",
     "  {}(p, n);\n", "}}\n\n", nullptr},
    {"Yaml", "t.yaml", "ops:\n", "", "  {}:\n", "    {}: 0\n", "", nullptr},
    {"Python", "t.py", "import os\n\n", "", "def {}(s):\n", "    {}(s)\n", "\n", nullptr},
    {"Paragraphs", "t.c", "int run(struct st *s)\n{\n  start(s);\n\n", "  return 0;\n}\n", "",
     "  {}(s);\n", "\n", "  begin(s, {});\n"},
};

struct PartText {
  std::string name = {};
  Texts lines = {};       // of its body, by their place in the base
  size_t name_after = 0;  // where the named line stands among them
  bool own = false;       // it is the patch's
  bool has = false;       // the patch's change, without the patch
  bool fresh = false;     // upstream made or renamed it
};

enum class Change { kReplace, kInsert, kDelete };

class Trial {
 public:
  Trial(const Kind& kind, unsigned seed) : kind_(kind), random_(seed) { make(); }

  // The file, with the patch in the parts that `changes` says yes to.
  std::string text(const std::vector<PartText>& parts,
                   const std::function<bool(const PartText&)>& changes) const {
    std::string out = kind_.head;
    for (const PartText& part : parts) {
      out += fmt::format(fmt::runtime(kind_.begin), part.name);
      for (size_t i = 0; i <= part.lines.size(); ++i) {
        if (kind_.named != nullptr && i == part.name_after) {
          out += fmt::format(fmt::runtime(kind_.named), part.name);
        }
        if (i == part.lines.size()) break;
        const bool here = (part.has || changes(part)) && i == line_;
        if (here && change_ == Change::kDelete) continue;
        out += line(here && change_ == Change::kReplace ? "changed" : part.lines[i]);
        if (here && change_ == Change::kInsert) out += line("added");
      }
      out += fmt::format(fmt::runtime(kind_.end), part.name);
    }
    return out + kind_.tail;
  }

  std::string base() const { return text(base_, none); }
  std::string after() const { return text(base_, own); }
  std::string target() const { return text(target_, none); }

  // Whether a result has the change in the right part: its own, or where that is gone one that
  // upstream made since, which may be it under another name.
  bool right(const std::string& result) const {
    const bool there = std::any_of(target_.begin(), target_.end(), own);
    if (there) return result == text(target_, own);
    return std::any_of(target_.begin(), target_.end(), [&](const PartText& one) {
      return one.fresh && result == text(target_, [&](const PartText& p) { return &p == &one; });
    });
  }
  bool alive() const { return std::any_of(target_.begin(), target_.end(), own); }
  // Whether upstream has done the patch's change to its part.
  bool done() const {
    return std::any_of(target_.begin(), target_.end(),
                       [](const PartText& part) { return part.own && part.has; });
  }
  const std::string& story() const { return story_; }

  // The patch as a diff with so many lines of context.
  UnifiedPatch diff() {
    const std::string before = base();
    const std::string changed = after();
    const auto a = text_lines(before);
    const auto b = text_lines(changed);
    size_t first = 0;
    while (first < std::min(a.size(), b.size()) && a[first] == b[first])
      ++first;
    size_t rest = 0;
    while (rest < std::min(a.size(), b.size()) - first &&
           a[a.size() - rest - 1] == b[b.size() - rest - 1])
      ++rest;
    const size_t context = 1 + random_() % 3;
    UnifiedHunk hunk{.line = 3};
    const size_t begin = first - std::min(first, context);
    hunk.before_line = hunk.after_line = begin + 1;
    for (size_t i = begin; i < first; ++i)
      hunk.lines.push_back({' ', std::string(a[i])});
    for (size_t i = first; i + rest < a.size(); ++i)
      hunk.lines.push_back({'-', std::string(a[i])});
    for (size_t i = first; i + rest < b.size(); ++i)
      hunk.lines.push_back({'+', std::string(b[i])});
    for (size_t i = a.size() - rest; i < std::min(a.size() - rest + context, a.size()); ++i)
      hunk.lines.push_back({' ', std::string(a[i])});
    UnifiedPatch out{.subject = "s", .why = "w"};
    out.files.push_back({.path_before = kind_.path, .path_after = kind_.path, .hunks = {hunk}});
    return out;
  }

 private:
  static bool none(const PartText&) { return false; }
  static bool own(const PartText& part) { return part.own; }
  size_t below(size_t n) { return random_() % n; }
  std::string line(const std::string& text) const {
    return fmt::format(fmt::runtime(kind_.line), text);
  }

  void make() {
    std::vector<std::string> names = {"add", "get",  "put",  "list", "drop", "find",
                                      "cut", "join", "copy", "move", "send", "take"};
    std::shuffle(names.begin(), names.end(), random_);
    names_ = names;
    const size_t parts = 3 + below(4);
    const size_t lines = 2 + below(5);
    const bool same = below(2) == 0;
    const size_t name_after = below(3) == 0 ? below(lines + 1) : 0;
    for (size_t p = 0; p < parts; ++p) {
      PartText part;
      part.name = next_name();
      part.name_after = name_after;
      for (size_t i = 0; i < lines; ++i) {
        const bool special = !same && below(4) == 0;
        part.lines.push_back(special ? "only" + std::to_string(below(30))
                                     : "step" + std::to_string(i));
      }
      base_.push_back(std::move(part));
    }
    base_[below(parts)].own = true;
    line_ = below(lines);
    change_ = static_cast<Change>(below(3));
    if (PartText& other = base_[below(parts)]; below(4) == 0 && !other.own) other.has = true;
    target_ = base_;
    for (size_t n = 1 + below(2); n > 0; --n)
      drift();
  }

  std::string next_name() {
    std::string name = names_.back();
    names_.pop_back();
    return name;
  }

  void drift() {
    const size_t at = below(target_.size());
    PartText& part = target_[at];
    const auto tell = [&](const std::string& what) { story_ += what + " " + part.name + "; "; };
    switch (below(7)) {
      case 0:
      case 1:
        if (target_.size() < 2) return;
        tell("remove");
        target_.erase(target_.begin() + static_cast<std::ptrdiff_t>(at));
        return;
      case 2: {
        const size_t other = below(target_.size());
        tell("swap");
        std::swap(target_[at], target_[other]);
        return;
      }
      case 3: {
        tell("copy");
        PartText twin = part;
        twin.own = false;
        twin.fresh = true;
        twin.name = next_name();
        target_.insert(target_.begin() + static_cast<std::ptrdiff_t>(below(target_.size() + 1)),
                       twin);
        return;
      }
      case 4:
        tell("rename");
        part.name = next_name();
        part.fresh = true;
        return;
      case 5:
        tell("do the patch's change to");
        part.has = true;
        return;
      default: {
        const size_t i = below(part.lines.size());
        if (part.own && i == line_) return;
        tell("change a line of");
        part.lines[i] = "news" + std::to_string(below(30));
      }
    }
  }

  const Kind& kind_;
  std::mt19937 random_;
  std::vector<std::string> names_;
  std::vector<PartText> base_;
  std::vector<PartText> target_;
  size_t line_ = 0;
  Change change_ = Change::kReplace;
  std::string story_;
};

// How often each thing happened.
struct Tally {
  size_t alive = 0;       // trials whose part is still there
  size_t carried = 0;     // of these, by carry
  size_t applied = 0;     // and by apply with the base
  size_t recognised = 0;  // and found there again by the second run
  size_t wrong = 0;       // trials in which something was said or done of another part
};

class Siblings : public testing::TestWithParam<size_t> {
 protected:
  static constexpr size_t kShown = 3;  // failures

  const Kind& kind() const { return kKinds[GetParam()]; }
  std::string bytes(const FileMap& tree_of) const {
    return tree_of.get(kind().path).source->bytes();
  }

  void wrong(const std::string& what, const Trial& trial, const std::string& made) {
    if (++tally_.wrong > kShown) return;
    ADD_FAILURE() << kind().name << " " << seed_ << ", " << what << ": " << trial.story() << "\n"
                  << "--- the patch makes\n"
                  << trial.after() << "--- of the target\n"
                  << trial.target() << "--- this\n"
                  << made;
  }

  // The patch, with a diff's few lines of context or with the anchors that import finds.
  Patch patch_for(Trial& trial) const {
    if (seed_ % 2 == 0) return patch_of("p.patch", trial.diff());
    const Imported imported =
        import_change({.name = "p.patch",
                       .subject = "s",
                       .why = "w",
                       .files = {{kind().path, kind().path, trial.base(), trial.after()}}});
    return parse_patch("p.patch", imported.text);
  }

  void run(unsigned seed) {
    seed_ = seed;
    Trial trial(kind(), seed);
    if (trial.base() == trial.after()) return;
    Series series;
    series.patches.push_back(patch_for(trial));
    const Patch& patch = series.patches.front();
    if (!patch.usable()) return;  // removes at an edge, say
    BaseStep step{.patch = &patch,
                  .paths = {kind().path},
                  .before = tree(trial.base()),
                  .after = tree(trial.after())};
    const Judgement in_base = judge(patch, step.before);
    step.told_apart = in_base.verdict == Verdict::kApplies && in_base.after.same_as(step.after);
    tally_.alive += trial.alive() && !trial.done() ? 1 : 0;
    carry(step, trial);
    apply(series, step, trial);
  }

  void carry(const BaseStep& step, const Trial& trial) {
    FileMap carried = tree(trial.target());
    const CarriedPatch c = carry_patch(step, carried, MoveRule::kRefuse);
    if (c.outcome == CarryOutcome::kNeedsPerson) return;
    if (!trial.right(bytes(carried))) {
      wrong(std::string(outcome_name(c.outcome)), trial, bytes(carried));
    }
    tally_.carried += trial.alive() && !trial.done() ? 1 : 0;
  }

  void apply(const Series& series, const BaseStep& step, const Trial& trial) {
    BaseReview review({step}, "", MoveRule::kRefuse);
    const Plan plan = plan_apply(series, tree(trial.target()), &review);
    if (plan.verdict() == Verdict::kAlreadyApplied || plan.verdict() == Verdict::kObsolete) {
      if (!trial.right(trial.target())) wrong("nothing to do", trial, trial.target());
      return;
    }
    if (plan.refused()) return;
    if (!trial.right(bytes(plan.result))) wrong("apply --base", trial, bytes(plan.result));
    if (!trial.alive() || trial.done()) return;
    ++tally_.applied;
    const Plan again = plan_apply(series, tree(bytes(plan.result)), &review);
    tally_.recognised += again.verdict() == Verdict::kAlreadyApplied ? 1 : 0;
    if (again.verdict() == Verdict::kApplies) wrong("second apply", trial, bytes(again.result));
  }

  unsigned seed_ = 0;
  Tally tally_;
};

TEST_P(Siblings, AreNotTakenForTheOneThatIsGone) {
  const char* more = std::getenv("SIBLING_TRIALS");
  const unsigned trials = more != nullptr ? static_cast<unsigned>(std::atoi(more)) : 150;
  for (unsigned seed = 1; seed <= trials; ++seed)
    run(seed);
  RecordProperty("alive", static_cast<int>(tally_.alive));
  RecordProperty("carried", static_cast<int>(tally_.carried));
  if (more != nullptr) {
    fmt::print("{}: {} alive, {} carried, {} applied, {} recognised, {} wrong\n", kind().name,
               tally_.alive, tally_.carried, tally_.applied, tally_.recognised, tally_.wrong);
  }
  EXPECT_GT(4 * tally_.carried, tally_.alive)
      << "a refusal is no failure, but most must not be one";
}

INSTANTIATE_TEST_SUITE_P(Kinds, Siblings, testing::Range<size_t>(0, std::size(kKinds)),
                         [](const auto& one) { return kKinds[one.param].name; });

}  // namespace
}  // namespace patcher
