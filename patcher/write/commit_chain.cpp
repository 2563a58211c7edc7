#include "patcher/write/commit_chain.h"

#include <fmt/format.h>

#include <cstdlib>

#include "patcher/base/error.h"

namespace patcher {
namespace {

using GitSignature = GitOwned<git_signature, git_signature_free>;

std::string environment(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  return value != nullptr ? value : "";
}

// Who commits: GIT_AUTHOR_NAME and GIT_AUTHOR_EMAIL (or GIT_COMMITTER_...), else user.name and
// user.email of the repository's, the user's or the system's configuration, which is all that is
// ever read from the last two.
GitSignature sign(const Repository& repository, const std::string& role) {
  std::string name = environment("GIT_" + role + "_NAME");
  std::string email = environment("GIT_" + role + "_EMAIL");
  if (name.empty()) name = repository.user_setting("user.name");
  if (email.empty()) email = repository.user_setting("user.email");
  if (name.empty() || email.empty()) {
    throw BrokenEnvironment(
        fmt::format("there is no {} to commit as: set {}", name.empty() ? "name" : "address",
                    name.empty() ? "user.name (git config user.name NAME)"
                                 : "user.email (git config user.email ADDRESS)"));
  }
  GitSignature signature;
  check_git(git_signature_now(Receive(signature), name.c_str(), email.c_str()),
            fmt::format("{} <{}>", name, email));
  return signature;
}

// A mail or commit that says nothing but its subject has that for its Why.
std::string message_of(const Patch& patch) {
  return patch.subject + (patch.why == patch.subject ? "" : "\n\n" + patch.why) + "\n";
}

class Chain {
 public:
  Chain(const Repository& repository, const Revision& base)
      : repository_(repository),
        author_(sign(repository, "AUTHOR")),
        committer_(sign(repository, "COMMITTER")),
        tree_(base.tree),
        parent_(base.id()) {}

  git_oid add(const PatchPlan& patch) {
    write_tree(patch);
    GitTree tree;
    check_git(git_tree_lookup(Receive(tree), repository_.get(), &tree_), patch.patch->name);
    GitCommit parent;
    check_git(git_commit_lookup(Receive(parent), repository_.get(), &parent_), hex(parent_));
    const git_commit* parents[] = {parent.get()};
    const std::string message = message_of(*patch.patch);
    check_git(git_commit_create(&parent_, repository_.get(), nullptr, author_.get(),
                                committer_.get(), nullptr, message.c_str(), tree.get(), 1, parents),
              patch.patch->name);
    return parent_;
  }

 private:
  void write_tree(const PatchPlan& patch) {
    std::vector<std::string> paths;
    std::vector<git_tree_update> updates;
    for (const std::string& path : patch.paths) {
      if (!same_state(patch.before.get(path), patch.after.get(path))) {
        paths.push_back(repository_.prefix() + path);
        updates.push_back(update(patch.after.get(path)));
      }
    }
    for (size_t i = 0; i < paths.size(); ++i)
      updates[i].path = paths[i].c_str();
    GitTree old;
    check_git(git_tree_lookup(Receive(old), repository_.get(), &tree_), patch.patch->name);
    check_git(git_tree_create_updated(&tree_, repository_.get(), old.get(), updates.size(),
                                      updates.data()),
              patch.patch->name);
  }

  git_tree_update update(const FileState& after) const {
    if (!after.exists())
      return {.action = GIT_TREE_UPDATE_REMOVE, .id = {}, .filemode = {}, .path = nullptr};
    const std::string& bytes = after.source->bytes();
    git_tree_update out{
        .action = GIT_TREE_UPDATE_UPSERT, .id = {}, .filemode = git_mode(after), .path = nullptr};
    check_git(git_blob_create_from_buffer(&out.id, repository_.get(), bytes.data(), bytes.size()),
              after.source->path());
    return out;
  }

  const Repository& repository_;
  GitSignature author_;
  GitSignature committer_;
  git_oid tree_;
  git_oid parent_;
};

}  // namespace

std::vector<git_oid> write_commits(const Repository& repository, const Revision& base,
                                   const Plan& plan) {
  std::vector<git_oid> ids;
  Chain chain(repository, base);
  for (const PatchPlan& patch : plan.patches) {
    if (patch.verdict == Verdict::kApplies) ids.push_back(chain.add(patch));
  }
  return ids;
}

git_oid blob_id(const FileState& state) {
  git_oid id;
  const std::string& bytes = state.source->bytes();
  check_git(git_odb_hash(&id, bytes.data(), bytes.size(), GIT_OBJECT_BLOB), state.source->path());
  return id;
}

git_filemode_t git_mode(const FileState& state) {
  return (state.mode & 0100) != 0 ? GIT_FILEMODE_BLOB_EXECUTABLE : GIT_FILEMODE_BLOB;
}

}  // namespace patcher
