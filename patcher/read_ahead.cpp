#include "patcher/read_ahead.h"

#include <algorithm>
#include <atomic>
#include <future>
#include <set>
#include <thread>
#include <vector>

namespace patcher {
namespace {

// Below this many bytes in all, threads cost more than they save.
constexpr size_t kWorthThreads = 8 << 10;
// A larger file waits until it is asked for its tree, which may never be: its tokens alone can
// decide that an anchor is missing.
constexpr size_t kLargest = 512 << 10;

// Distinct files, the largest first. The last patch's come first in reading, as when it is seen
// whether the series is applied: of two names of one file, the same one is called the other's.
std::vector<std::shared_ptr<const Source>> named_files(const Series& series, const FileMap& files) {
  std::vector<std::shared_ptr<const Source>> found;
  std::set<std::string> seen;
  for (size_t i = series.patches.size(); i > 0; --i) {
    const Patch& patch = series.patches[i - 1];
    if (!patch.usable()) continue;
    for (const std::string& path : named_paths(patch)) {
      if (!is_safe_path(path) || !seen.insert(path).second) continue;
      const FileState state = files.on_disk(path);
      if (state.exists() && state.source->bytes().size() <= kLargest) found.push_back(state.source);
    }
  }
  std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) {
    return a->bytes().size() > b->bytes().size();
  });
  return found;
}

}  // namespace

void read_ahead(const Series& series, const FileMap& files) {
  const auto sources = named_files(series, files);
  size_t bytes = 0;
  for (const auto& source : sources)
    bytes += source->bytes().size();
  const size_t threads = std::min<size_t>(std::thread::hardware_concurrency(), sources.size());
  if (threads < 2 || bytes < kWorthThreads) return;
  std::atomic<size_t> next = 0;
  const auto work = [&] {
    for (size_t i = next++; i < sources.size(); i = next++) {
      if (!sources[i]->unreadable().empty()) continue;
      sources[i]->scopes();
      sources[i]->damage();
      sources[i]->code();
    }
  };
  std::vector<std::future<void>> helpers;
  for (size_t i = 1; i < threads; ++i)
    helpers.push_back(std::async(std::launch::async, work));
  work();
  for (std::future<void>& helper : helpers)
    helper.get();
}

}  // namespace patcher
