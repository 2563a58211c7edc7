#include "patcher/drift.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "patcher/judge.h"
#include "patcher/revision_tree.h"

namespace patcher {
namespace {

// What a patch was judged on last and what came out, path by path.
struct Memo {
  std::vector<std::string> paths = {};
  std::vector<FileState> before = {};
  std::vector<FileState> after = {};
};

class Follower {
 public:
  Follower(std::shared_ptr<const Repository> repository, const Series& series, Drift& drift)
      : repository_(std::move(repository)), series_(series), drift_(drift) {
    for (const Patch& patch : series.patches) {
      drift_.patches.push_back({.patch = &patch});
      memos_.emplace_back();
      for (const std::string& path : named_paths(patch))
        blobs_.emplace(path, git_oid{});
    }
  }

  void step(const Revision& at) {
    auto tree = std::make_shared<RevisionTree>(repository_, at, sources_);
    const bool first = drift_.patches.empty() || drift_.patches.front().events.empty();
    if (!note_blobs(*tree) && !first) return;
    if (!first) ++drift_.touching;
    FileMap files{std::shared_ptr<FileOrigin>(std::move(tree))};
    for (size_t i = 0; i < series_.patches.size(); ++i)
      follow(i, at, files);
  }

 private:
  // Whether a file that the series names is another one than at the last step.
  bool note_blobs(RevisionTree& tree) {
    bool changed = false;
    for (auto& [path, known] : blobs_) {
      const git_oid id = tree.blob_at(path);
      changed = changed || !git_oid_equal(&id, &known);
      known = id;
    }
    return changed;
  }

  // Judges patch i on `files` and puts its result there.
  void follow(size_t i, const Revision& at, FileMap& files) {
    const Patch& patch = series_.patches[i];
    std::optional<Memo>& memo = memos_[i];
    if (!memo || !same_states(memo->paths, memo->before, files)) {
      const Judgement judgement = judge(patch, files);
      memo = remember(patch, files, judgement.after);
      ++drift_.patches[i].judged;
      note_event(drift_.patches[i], at, judgement);
    }
    for (size_t p = 0; p < memo->paths.size(); ++p)
      files.put(memo->paths[p], memo->after[p]);
  }

  static bool same_states(const std::vector<std::string>& paths,
                          const std::vector<FileState>& states, const FileMap& files) {
    for (size_t p = 0; p < paths.size(); ++p) {
      const FileState now = files.get(paths[p]);
      if (now.unsafe != states[p].unsafe || !same_state(now, states[p])) return false;
    }
    return true;
  }

  static Memo remember(const Patch& patch, const FileMap& before, const FileMap& after) {
    Memo memo{.paths = named_paths(patch)};
    for (const std::string& path : memo.paths) {
      memo.before.push_back(before.get(path));
      memo.after.push_back(after.get(path));
    }
    return memo;
  }

  static void note_event(PatchDrift& drift, const Revision& at, const Judgement& judgement) {
    DriftEvent event{.at = at, .verdict = judgement.verdict, .findings = judgement.findings};
    if (event.verdict == Verdict::kAlreadyApplied) {
      event.verdict = Verdict::kObsolete;
      event.findings.push_back({.verdict = Verdict::kObsolete,
                                .origin = {.file = drift.patch->name, .line = 1, .column = 1},
                                .message = fmt::format("upstream has it since {}: drop the patch",
                                                       at.commit.substr(0, 12))});
    }
    if (!drift.events.empty() && drift.last().verdict == event.verdict) {
      // The verdict is as old as it was; where and why are as of now.
      if (event.verdict != Verdict::kObsolete) {
        drift.events.back().latest = std::move(event.findings);
      }
      return;
    }
    event.latest = event.findings;
    drift.events.push_back(std::move(event));
  }

  std::shared_ptr<const Repository> repository_;
  const Series& series_;
  Drift& drift_;
  std::shared_ptr<BlobSources> sources_ = std::make_shared<BlobSources>();
  std::map<std::string, git_oid> blobs_;
  std::vector<std::optional<Memo>> memos_;
};

}  // namespace

const DriftEvent* PatchDrift::first_break() const {
  const auto found = std::find_if(events.begin(), events.end(), [](const DriftEvent& e) {
    return is_refusal(e.verdict) && e.verdict != Verdict::kObsolete;
  });
  return found == events.end() ? nullptr : &*found;
}

const DriftEvent* PatchDrift::obsolete_since() const {
  return last().verdict == Verdict::kObsolete ? &last() : nullptr;
}

Verdict Drift::verdict() const {
  for (const PatchDrift& p : patches) {
    if (is_refusal(p.last().verdict)) return p.last().verdict;
  }
  return Verdict::kApplies;
}

Drift follow_drift(const std::shared_ptr<const Repository>& repository, const Series& series,
                   History history, const DriftProgress& progress) {
  Drift drift{.history = std::move(history)};
  Follower follower(repository, series, drift);
  const std::vector<Revision>& commits = drift.history.commits;
  for (size_t i = 0; i < commits.size(); ++i) {
    follower.step(commits[i]);
    if (progress) progress(i + 1, commits.size());
  }
  return drift;
}

}  // namespace patcher
