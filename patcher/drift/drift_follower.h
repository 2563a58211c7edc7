#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "patcher/drift/drift.h"
#include "patcher/git/revision_tree.h"
#include "patcher/tree/file_map.h"

namespace patcher {

// Takes some patches of a series along a history. They must stand by themselves: no other patch of
// the series may name a file that one of them names. For one thread; borrows the series and writes
// what becomes of patch i to drift.patches[i] and nothing else.
//
// At most commits only the verdict is asked for. Why it is what it is gets looked up where a
// verdict begins, and where it was found last.
class DriftFollower {
 public:
  DriftFollower(std::shared_ptr<const Repository> repository, const Series& series,
                std::vector<size_t> patches, Drift& drift);

  // The next commit; those at which no file of the patches changes can be left out.
  void step(const Revision& at);
  // After the last one.
  void finish();

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

  void follow(Followed& followed, const Revision& at, FileMap& files);
  void note(Followed& followed, const Revision& at, Verdict verdict, const FileMap& files);
  void explain(Followed& followed);

  std::shared_ptr<const Repository> repository_;
  const Series& series_;
  Drift& drift_;
  std::shared_ptr<BlobSources> sources_ = std::make_shared<BlobSources>();
  std::vector<Followed> followed_;
};

}  // namespace patcher
