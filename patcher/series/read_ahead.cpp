#include "patcher/series/read_ahead.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
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

// What a patch does to the hunks of one file.
Patch part_for(const Patch& patch, const std::string& path) {
  Patch part{.name = patch.name};
  for (const FileChange& change : patch.changes) {
    if (change.path == path) part.changes.push_back(change);
  }
  return part;
}

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

void try_ahead(const Series& series, size_t first, const FileMap& files, TrialCache& cache) {
  const Sources sources = named_files(series, files);
  std::map<std::string_view, std::vector<size_t>> patches;  // that change a file, in order
  for (size_t p = first; p < series.patches.size(); ++p) {
    if (!series.patches[p].usable()) continue;
    for (const FileChange& change : series.patches[p].changes) {
      auto& of_file = patches[change.path];
      if (of_file.empty() || of_file.back() != p) of_file.push_back(p);
    }
  }
  std::vector<TrialCache> of_file(sources.size());
  parallel_for(sources.size(), [&](size_t i) {
    const std::string& path = sources[i]->path();
    FileMap tree = files;  // has read all of them: the threads share what none of them changes
    const auto found = patches.find(path);
    if (found == patches.end()) return;
    auto now = sources[i];
    for (const size_t p : found->second) {
      tree = judge(part_for(series.patches[p], path), tree, of_file[i]).after;
      auto next = tree.get(path).source;
      if (next == now) continue;
      if (now != sources[i]) now->forget();
      now = std::move(next);
    }
  });
  for (TrialCache& one : of_file)
    cache.merge(std::move(one));
}

}  // namespace patcher
