#include "patcher/series/read_ahead.h"

#include <algorithm>
#include <set>
#include <vector>

#include "patcher/base/parallel.h"

namespace patcher {
namespace {

// Below this many bytes in all, threads cost more than they save.
constexpr size_t kWorthThreads = 8 << 10;
// A larger file waits until it is asked for its tree, which may never be: its tokens alone can
// decide that an anchor is missing.
constexpr size_t kLargest = 512 << 10;

using Sources = std::vector<std::shared_ptr<const Source>>;

// Distinct files, the largest first; none if they are not worth it. The last patch's come first in
// reading, as when it is seen whether the series is applied: of two names of one file, the same one
// is called the other's.
Sources named_files(const Series& series, const FileMap& files) {
  Sources found;
  size_t bytes = 0;
  std::set<std::string> seen;
  for (size_t i = series.patches.size(); i > 0; --i) {
    const Patch& patch = series.patches[i - 1];
    if (!patch.usable()) continue;
    for (const std::string& path : named_paths(patch)) {
      if (!is_safe_path(path) || !seen.insert(path).second) continue;
      const FileState state = files.on_disk(path);
      if (!state.exists() || state.source->bytes().size() > kLargest) continue;
      found.push_back(state.source);
      bytes += state.source->bytes().size();
    }
  }
  if (bytes < kWorthThreads) return {};
  std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) {
    return a->bytes().size() > b->bytes().size();
  });
  return found;
}

// One file's way through the series.
class FileRun {
 public:
  struct Entry {
    TrialCache::Key key;
    SectionTrial trial;
  };

  explicit FileRun(std::shared_ptr<const Source> on_disk)
      : path_(on_disk->path()), now_(std::move(on_disk)) {}

  // Takes it to be what the patch will find, and then what the patch makes of it. Wrong where an
  // operation changes the file, or another file's section is refused.
  void step(const Patch& patch, const Patch& undoing) {
    const auto after = sections(patch, now_, ScopeRule::kStrict, Failures::kAll);
    sections(undoing, now_, ScopeRule::kUndo, Failures::kVerdict);
    if (!after || after == now_) return;
    now_ = after;
    sections(undoing, now_, ScopeRule::kUndo, Failures::kAll);
    sections(patch, now_, ScopeRule::kStrict, Failures::kParts);
  }

  std::vector<Entry> take() { return std::move(entries_); }

 private:
  // What the patch makes of `source`; null if it is refused here.
  std::shared_ptr<const Source> sections(const Patch& patch, std::shared_ptr<const Source> source,
                                         ScopeRule rule, Failures failures) {
    bool refused = false;
    for (const FileChange& change : patch.changes) {
      if (change.path != path_) continue;
      SectionTrial trial = try_section(patch, change, source, rule, failures);
      auto after = trial.after ? trial.after : source;
      refused = refused || !trial.failures.empty();
      entries_.push_back(
          {{std::move(source), patch.name, change.line, rule, failures}, std::move(trial)});
      source = std::move(after);
    }
    return refused ? nullptr : source;
  }

  std::string path_;
  std::shared_ptr<const Source> now_;
  std::vector<Entry> entries_;
};

}  // namespace

void read_ahead(const Series& series, const FileMap& files) {
  const Sources sources = named_files(series, files);
  parallel_for(sources.size(), [&](size_t i) {
    if (!sources[i]->unreadable().empty()) return;
    sources[i]->scopes();
    sources[i]->damage();
    sources[i]->code();
  });
}

TrialCache try_ahead(const Series& series, size_t first, const FileMap& files) {
  std::vector<const Patch*> patches;
  for (size_t i = first; i < series.patches.size(); ++i) {
    if (series.patches[i].usable()) patches.push_back(&series.patches[i]);
  }
  std::vector<Patch> undoing;
  for (const Patch* patch : patches)
    undoing.push_back(reversed(*patch));
  const Sources sources = named_files(series, files);
  std::vector<std::vector<FileRun::Entry>> entries(sources.size());
  parallel_for(sources.size(), [&](size_t i) {
    FileRun run(sources[i]);
    for (size_t p = 0; p < patches.size(); ++p)
      run.step(*patches[p], undoing[p]);
    entries[i] = run.take();
  });
  TrialCache cache;
  for (auto& of_file : entries) {
    for (FileRun::Entry& entry : of_file)
      cache.add(std::move(entry.key), std::move(entry.trial));
  }
  return cache;
}

}  // namespace patcher
