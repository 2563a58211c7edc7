#include "patcher/drift/drift.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <optional>
#include <thread>

#include "patcher/base/parallel.h"
#include "patcher/git/revision_tree.h"
#include "patcher/series/judge.h"

namespace patcher {
namespace {

// Patches that share no file with any other: they can be followed by themselves.
struct Strand {
  std::vector<size_t> patches = {};  // indices, in the series' order
  std::vector<std::string> paths = {};
  std::vector<size_t> commits = {};  // indices: the first, and those that change one of the paths
  size_t bytes = 0;                  // of its files at the last commit
};

std::vector<Strand> strands_of(const Series& series) {
  std::vector<Strand> strands;
  for (size_t i = 0; i < series.patches.size(); ++i) {
    Strand strand{.patches = {i}, .paths = named_paths(series.patches[i])};
    const auto shares = [&](const Strand& other) {
      return std::find_first_of(other.paths.begin(), other.paths.end(), strand.paths.begin(),
                                strand.paths.end()) != other.paths.end();
    };
    for (auto it = strands.begin(); it != strands.end();) {
      if (!shares(*it)) {
        ++it;
        continue;
      }
      strand.patches.insert(strand.patches.end(), it->patches.begin(), it->patches.end());
      strand.paths.insert(strand.paths.end(), it->paths.begin(), it->paths.end());
      it = strands.erase(it);
    }
    std::sort(strand.patches.begin(), strand.patches.end());
    strands.push_back(std::move(strand));
  }
  return strands;
}

// Fills in which commits change which strand, and how much there is to read at each; returns how
// many commits change any. REQUIRES: there is a commit.
size_t find_commits(const std::shared_ptr<const Repository>& repository,
                    const std::vector<Revision>& commits, std::vector<Strand>& strands) {
  std::map<std::string, TreeFileId> known;
  size_t touching = 0;
  for (size_t c = 0; c < commits.size(); ++c) {
    RevisionTree tree(repository, commits[c]);
    bool touches = false;
    for (Strand& strand : strands) {
      bool changed = c == 0;
      for (const std::string& path : strand.paths) {
        const TreeFileId id = tree.id_at(path);
        changed = changed || known[path] != id;
        known[path] = id;
      }
      if (changed) strand.commits.push_back(c);
      touches = touches || changed;
    }
    touching += touches && c > 0 ? 1 : 0;
  }
  RevisionTree last(repository, commits.back());
  for (Strand& strand : strands) {
    for (const std::string& path : strand.paths) {
      if (!is_safe_path(path)) continue;
      const FileState state = last.read(path);
      strand.bytes += state.exists() ? state.source->bytes().size() : 0;
    }
  }
  return touching;
}

bool same_states(const std::vector<std::string>& paths, const std::vector<FileState>& states,
                 const FileMap& files) {
  for (size_t p = 0; p < paths.size(); ++p) {
    const FileState now = files.get(paths[p]);
    if (now.unsafe != states[p].unsafe || !same_state(now, states[p])) return false;
  }
  return true;
}

Finding upstream_has_it(const Patch& patch, const Revision& since) {
  return Finding::of(
      Verdict::kObsolete, at_line(patch.name),
      fmt::format("upstream has it since {}: drop the patch", since.commit.substr(0, 12)));
}

// Takes the patches of a strand along the history. For one thread; borrows the series and writes
// what becomes of patch i to drift.patches[i] and nothing else.
//
// At most commits only the verdict is asked for. Why it is what it is gets looked up where a
// verdict begins, and where it was found last.
class Follower {
 public:
  Follower(std::shared_ptr<const Repository> repository, const Series& series, const Strand& strand,
           Drift& drift)
      : repository_(std::move(repository)), series_(series), drift_(drift) {
    for (const size_t patch : strand.patches)
      followed_.push_back({.patch = patch});
  }

  // The next commit; those at which no file of the patches changes can be left out.
  void step(const Revision& at) {
    FileMap files(std::make_shared<RevisionTree>(repository_, at, sources_));
    for (Followed& followed : followed_)
      follow(followed, at, files);
  }

  // After the last one.
  void finish() {
    for (Followed& followed : followed_)
      explain(followed);
  }

 private:
  // What a patch was judged on last and what came out, path by path.
  struct Memo {
    std::vector<std::string> paths = {};
    std::vector<FileState> before = {};
    std::vector<FileState> after = {};
  };
  struct Followed {
    size_t patch = 0;
    std::optional<Memo> memo = {};
    std::optional<FileMap> unexplained = {};  // the tree of the last judgement, if it has no why
  };

  // Judges the patch on `files` and puts its result there.
  void follow(Followed& followed, const Revision& at, FileMap& files) {
    std::optional<Memo>& memo = followed.memo;
    if (!memo || !same_states(memo->paths, memo->before, files)) {
      const Patch& patch = series_.patches[followed.patch];
      const Judgement judgement = judge(patch, files);
      memo = Memo{.paths = named_paths(patch)};
      for (const std::string& path : memo->paths) {
        memo->before.push_back(files.get(path));
        memo->after.push_back(judgement.after.get(path));
      }
      ++drift_.patches[followed.patch].judged;
      note(followed, at, judgement.verdict, files);
    }
    for (size_t p = 0; p < memo->paths.size(); ++p)
      files.put(memo->paths[p], memo->after[p]);
  }

  void note(Followed& followed, const Revision& at, Verdict verdict, const FileMap& files) {
    // What is in the tree has been put there by upstream.
    if (verdict == Verdict::kAlreadyApplied) verdict = Verdict::kObsolete;
    PatchDrift& drift = drift_.patches[followed.patch];
    const bool is_news = drift.events.empty() || drift.last().verdict != verdict;
    const bool has_why = is_refusal(verdict) && verdict != Verdict::kObsolete;
    if (is_news) {
      explain(followed);
      drift.events.push_back({.at = at, .verdict = verdict});
      DriftEvent& event = drift.events.back();
      if (verdict == Verdict::kObsolete) event.findings = {upstream_has_it(*drift.patch, at)};
      if (has_why) event.findings = explained(judge(*drift.patch, files).failures);
      event.latest = event.findings;
    } else if (has_why) {
      // The verdict is as old as it was; where and why will be as of the last of these.
      followed.unexplained = files;
    }
  }

  void explain(Followed& followed) {
    if (!followed.unexplained) return;
    PatchDrift& drift = drift_.patches[followed.patch];
    drift.events.back().latest = explained(judge(*drift.patch, *followed.unexplained).failures);
    followed.unexplained.reset();
  }

  std::shared_ptr<const Repository> repository_;
  const Series& series_;
  Drift& drift_;
  std::shared_ptr<BlobSources> sources_ = std::make_shared<BlobSources>();
  std::vector<Followed> followed_;
};

// Follows the strands, those with the most to read first, on all cores. Each thread reads through a
// repository of its own; all are opened before the first begins, since opening sets what is global
// in libgit2.
void follow(const std::string& directory, const Series& series, std::vector<Strand> strands,
            Drift& drift, const DriftProgress& progress) {
  const auto work = [](const Strand& s) {
    return s.commits.size() * s.patches.size() * (s.bytes + 1);
  };
  std::stable_sort(strands.begin(), strands.end(),
                   [&](const Strand& a, const Strand& b) { return work(a) > work(b); });
  size_t total = 0;
  for (const Strand& strand : strands)
    total += strand.commits.size();
  const size_t cores = std::max(1u, std::thread::hardware_concurrency());
  std::vector<std::shared_ptr<const Repository>> idle;
  while (idle.size() < std::min(cores, strands.size()))
    idle.push_back(Repository::around(directory));
  std::mutex mutex;  // of the idle repositories, of `done`, and of who tells
  size_t done = 0;
  parallel_for(strands.size(), [&](size_t i) {
    std::shared_ptr<const Repository> own;
    {
      const std::lock_guard lock(mutex);
      own = std::move(idle.back());
      idle.pop_back();
    }
    Follower follower(own, series, strands[i], drift);
    for (const size_t c : strands[i].commits) {
      follower.step(drift.history.commits[c]);
      const std::lock_guard lock(mutex);
      if (progress) progress(++done, total);
    }
    follower.finish();
    const std::lock_guard lock(mutex);
    idle.push_back(std::move(own));
  });
}

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
  for (const Patch& patch : series.patches)
    drift.patches.push_back({.patch = &patch});
  std::vector<Strand> strands = strands_of(series);
  drift.touching = find_commits(repository, drift.history.commits, strands);
  follow(repository->directory(), series, std::move(strands), drift, progress);
  return drift;
}

}  // namespace patcher
