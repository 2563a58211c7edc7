#include "patcher/drift/drift_follower.h"

#include <fmt/format.h>

#include "patcher/series/judge.h"

namespace patcher {
namespace {

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

}  // namespace

DriftFollower::DriftFollower(std::shared_ptr<const Repository> repository, const Series& series,
                             std::vector<size_t> patches, Drift& drift)
    : repository_(std::move(repository)), series_(series), drift_(drift) {
  for (const size_t patch : patches)
    followed_.push_back({.patch = patch});
}

void DriftFollower::step(const Revision& at) {
  FileMap files{
      std::shared_ptr<FileOrigin>(std::make_shared<RevisionTree>(repository_, at, sources_))};
  for (Followed& followed : followed_)
    follow(followed, at, files);
}

void DriftFollower::finish() {
  for (Followed& followed : followed_)
    explain(followed);
}

// Judges the patch on `files` and puts its result there.
void DriftFollower::follow(Followed& followed, const Revision& at, FileMap& files) {
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

void DriftFollower::note(Followed& followed, const Revision& at, Verdict verdict,
                         const FileMap& files) {
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

void DriftFollower::explain(Followed& followed) {
  if (!followed.unexplained) return;
  PatchDrift& drift = drift_.patches[followed.patch];
  drift.events.back().latest = explained(judge(*drift.patch, *followed.unexplained).failures);
  followed.unexplained.reset();
}

}  // namespace patcher
