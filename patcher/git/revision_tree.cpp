#include "patcher/git/revision_tree.h"

#include <fmt/format.h>

#include <algorithm>

#include "patcher/base/error.h"
#include "patcher/text/change_blocks.h"

namespace patcher {
namespace {

// Re-parses only what changed since `old`, if that is there and has been parsed.
std::shared_ptr<const Source> next_version(const std::string& path,
                                           const std::shared_ptr<const Source>& old,
                                           std::string_view bytes) {
  if (!old || !old->has_tree()) return std::make_shared<Source>(path, std::string(bytes));
  const std::string& before = old->bytes();
  const auto blocks = change_blocks(before, bytes, Placing::kAnywhere);
  return Source::edited(old, line_edits(before, bytes, blocks));
}

bool is_file(git_filemode_t mode) {
  return mode == GIT_FILEMODE_BLOB || mode == GIT_FILEMODE_BLOB_EXECUTABLE;
}

}  // namespace

RevisionTree::RevisionTree(std::shared_ptr<const Repository> repository, const Revision& revision,
                           std::shared_ptr<BlobSources> sources)
    : repository_(std::move(repository)),
      name_(revision.display()),
      top_(revision.tree),
      sources_(std::move(sources)) {
  std::string prefix = revision.is_whole ? repository_->prefix() : "";
  if (prefix.empty()) return;
  prefix.pop_back();
  const Entry entry = find(prefix);
  if (!entry.found || entry.mode != GIT_FILEMODE_TREE) {
    throw BrokenEnvironment(fmt::format("{}: has no directory {}", name_, prefix));
  }
  top_ = entry.id;
}

git_tree* RevisionTree::tree(const git_oid& id) {
  GitTree& known = trees_[hex(id)];
  if (!known) {
    check_git(git_tree_lookup(Receive(known), repository_->get(), &id),
              fmt::format("{}: tree {}", name_, hex(id)));
  }
  return known.get();
}

RevisionTree::Entry RevisionTree::find(const std::string& path) {
  git_oid here = top_;
  for (size_t begin = 0;;) {
    const size_t slash = path.find('/', begin);
    const std::string part = path.substr(begin, slash - begin);
    const git_tree_entry* entry = git_tree_entry_byname(tree(here), part.c_str());
    if (entry == nullptr) return {};
    const git_filemode_t mode = git_tree_entry_filemode(entry);
    here = *git_tree_entry_id(entry);
    if (slash == std::string::npos) return {.found = true, .id = here, .mode = mode};
    if (mode != GIT_FILEMODE_TREE) {
      return {.found = true, .unsafe = path + " goes through a link or a file"};
    }
    begin = slash + 1;
  }
}

FileState RevisionTree::read(const std::string& path) {
  const Entry entry = find(path);
  if (!entry.unsafe.empty()) return {.unsafe = entry.unsafe};
  if (!entry.found) return {};
  switch (entry.mode) {
    case GIT_FILEMODE_BLOB:
      return {.source = source(path, entry.id), .mode = 0644};
    case GIT_FILEMODE_BLOB_EXECUTABLE:
      return {.source = source(path, entry.id), .mode = 0755};
    case GIT_FILEMODE_LINK:
      return {.unsafe = path + " is a symbolic link"};
    default:
      return {.unsafe = path + " is not a regular file"};
  }
}

std::vector<std::string> RevisionTree::list() {
  std::vector<std::string> files;
  std::vector<std::pair<std::string, git_oid>> directories{{"", top_}};
  while (!directories.empty()) {
    const auto [prefix, id] = std::move(directories.back());
    directories.pop_back();
    const git_tree* here = tree(id);
    for (size_t i = 0; i < git_tree_entrycount(here); ++i) {
      const git_tree_entry* entry = git_tree_entry_byindex(here, i);
      const git_filemode_t mode = git_tree_entry_filemode(entry);
      const std::string path = prefix + git_tree_entry_name(entry);
      if (is_file(mode)) files.push_back(path);
      if (mode == GIT_FILEMODE_TREE)
        directories.emplace_back(path + "/", *git_tree_entry_id(entry));
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::optional<std::string> RevisionTree::peek(const std::string& path, size_t most) {
  const Entry entry = find(path);
  GitBlob blob;
  if (!entry.found || !is_file(entry.mode) ||
      git_blob_lookup(Receive(blob), repository_->get(), &entry.id) != 0) {
    return std::nullopt;
  }
  const std::string_view bytes = blob_bytes(blob.get());
  if (bytes.size() > most) return std::nullopt;
  return std::string(bytes);
}

TreeFileId RevisionTree::id_at(const std::string& path) {
  const Entry entry = find(path);
  if (!entry.unsafe.empty()) return {.mode = GIT_FILEMODE_LINK};
  return {.blob = entry.id, .mode = entry.mode};
}

std::shared_ptr<const Source> RevisionTree::source(const std::string& path, const git_oid& id) {
  BlobSource& last = (*sources_)[path];
  if (last.source && git_oid_equal(&last.id, &id) != 0) return last.source;
  GitBlob blob;
  check_git(git_blob_lookup(Receive(blob), repository_->get(), &id),
            fmt::format("{}: {}", name_, path));
  last = {id, next_version(path, last.source, blob_bytes(blob.get()))};
  return last.source;
}

}  // namespace patcher
