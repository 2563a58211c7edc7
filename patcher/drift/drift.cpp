#include "patcher/drift/drift.h"

#include <algorithm>
#include <atomic>
#include <future>
#include <map>
#include <mutex>
#include <optional>
#include <thread>

#include "patcher/drift/drift_follower.h"
#include "patcher/git/revision_tree.h"

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

// Follows the strands, those with the most to read first, on as many threads as there are cores.
class Followers {
 public:
  Followers(const Series& series, std::vector<Strand> strands, Drift& drift,
            const DriftProgress& progress)
      : series_(series), strands_(std::move(strands)), drift_(drift), progress_(progress) {
    const auto work = [](const Strand& s) {
      return s.commits.size() * s.patches.size() * (s.bytes + 1);
    };
    std::stable_sort(strands_.begin(), strands_.end(),
                     [&](const Strand& a, const Strand& b) { return work(a) > work(b); });
    for (const Strand& strand : strands_)
      total_ += strand.commits.size();
  }

  // Each thread reads through a repository of its own; all are opened before the first begins,
  // since opening sets what is global in libgit2.
  void run(const std::string& directory) {
    const size_t cores = std::max(1u, std::thread::hardware_concurrency());
    std::vector<std::shared_ptr<const Repository>> repositories;
    while (repositories.size() < std::min(cores, strands_.size()))
      repositories.push_back(Repository::around(directory));
    std::vector<std::future<void>> workers;
    for (const auto& own : repositories)
      workers.push_back(std::async(std::launch::async, [&] { work(own); }));
    for (std::future<void>& worker : workers)
      worker.wait();
    for (std::future<void>& worker : workers)
      worker.get();
  }

 private:
  void work(const std::shared_ptr<const Repository>& repository) {
    for (size_t i = next_++; i < strands_.size(); i = next_++) {
      DriftFollower follower(repository, series_, strands_[i].patches, drift_);
      for (const size_t c : strands_[i].commits) {
        follower.step(drift_.history.commits[c]);
        tell();
      }
      follower.finish();
    }
  }

  void tell() {
    if (!progress_) return;
    const std::lock_guard lock(mutex_);
    progress_(++done_, total_);
  }

  const Series& series_;
  std::vector<Strand> strands_;
  Drift& drift_;
  const DriftProgress& progress_;
  std::atomic<size_t> next_ = 0;
  std::mutex mutex_;  // of done_, and of who tells
  size_t done_ = 0;
  size_t total_ = 0;
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
  for (const Patch& patch : series.patches)
    drift.patches.push_back({.patch = &patch});
  std::vector<Strand> strands = strands_of(series);
  drift.touching = find_commits(repository, drift.history.commits, strands);
  Followers(series, std::move(strands), drift, progress).run(repository->directory());
  return drift;
}

}  // namespace patcher
