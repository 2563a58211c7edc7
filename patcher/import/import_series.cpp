#include "patcher/import/import_series.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>

#include "patcher/base/error.h"
#include "patcher/base/files.h"
#include "patcher/series/series.h"

namespace patcher {
namespace {

namespace fs = std::filesystem;

constexpr const char* kKeptDiff = "kept as a diff: no anchors make this change";

Finding problem(Verdict verdict, const std::string& name, int line, const std::string& path,
                std::string message) {
  return Finding::of(verdict, at_line(name, line), std::move(message), {.file = path});
}

std::optional<FileVersions> versions_of(const UnifiedFile& f, const std::string& name,
                                        const FileMap& base, std::vector<Finding>& errors,
                                        LineRule rule) {
  FileVersions v{.path_before = f.path_before, .path_after = f.path_after};
  const std::string& path = f.path_before.empty() ? f.path_after : f.path_before;
  const auto fail = [&](Verdict verdict, int line, std::string message) {
    errors.push_back(problem(verdict, name, line, path, std::move(message)));
    return std::nullopt;
  };
  const FileState state = base.get(path);
  v.mode_after = f.mode_after.value_or(state.exists() ? state.mode : 0644);
  if (f.path_before.empty() || (f.may_be_new && !state.exists())) {
    if (state.exists()) {
      return fail(Verdict::kOutdated, f.line, "is in the base already, and the diff makes it");
    }
    v.path_before.clear();
    v.after = f.side('+');
    return v;
  }
  if (!state.exists()) return fail(Verdict::kFileMissing, f.line, "is not in the base");
  v.before = state.source->bytes();
  v.mode_before = state.mode;
  const Redone redone = redo_hunks(f, v.before, rule);
  if (redone.misfit_line != 0) return fail(Verdict::kMissing, redone.misfit_line, redone.misfit);
  v.after = redone.after;
  if (f.path_after.empty() && !v.after.empty()) {
    return fail(Verdict::kMissing, f.line, "the diff deletes the file but not all of its lines");
  }
  return v;
}

// Patches that are taken one after the other from the base.
class FilesImport {
 public:
  explicit FilesImport(const FileMap& base) : tree_(base) {}

  void add_file(const std::string& file) {
    if (const std::string fault = size_fault(file); !fault.empty()) {
      out_.errors.push_back(problem(Verdict::kMalformed, file, 1, "", "the file " + fault));
      return;
    }
    const auto text = read_whole(file);
    if (!text)
      throw BrokenEnvironment(
          fmt::format("{}: cannot read the patch: there is no such file", file));
    const std::vector<UnifiedPatch> mails = parse_mails(file, *text);
    const std::string stem = fs::path(file).stem().string();
    for (size_t i = 0; i < mails.size(); ++i) {
      const std::string& subject = mails[i].subject.empty() ? stem : mails[i].subject;
      add(file, mails[i], subject,
          mails.size() > 1 ? patch_file_name(i + 1, subject) : stem + ".patch");
    }
  }

  SeriesImport take() { return std::move(out_); }

 private:
  void add(const std::string& file, const UnifiedPatch& patch, const std::string& subject,
           const std::string& name) {
    std::vector<Finding> errors = patch.errors;
    SourceChange change{.name = name, .subject = subject, .why = patch.why};
    if (const auto lines = parse_series(name);
        !is_safe_path(name) || lines.size() != 1 || lines.front().name != name) {
      errors.push_back(
          problem(Verdict::kMalformed, file, 1, "",
                  fmt::format("a series cannot name `{}`; give the file another name", name)));
    }
    if (!names_.insert(name).second) {
      errors.push_back(problem(Verdict::kMalformed, file, patch.line, "",
                               fmt::format("two patches have the name `{}`", name)));
    }
    if (errors.empty()) change.files = versions_of(patch, file, tree_, errors);
    SeriesImport::Item item{.name = name};
    if (errors.empty()) {
      item.imported = import_change(change);
      errors = item.imported.errors;
      for (const FileVersions& v : change.files)
        put_version(v, tree_);
    }
    out_.errors.insert(out_.errors.end(), errors.begin(), errors.end());
    out_.patches.push_back(std::move(item));
  }

  FileMap tree_;
  std::set<std::string> names_;
  SeriesImport out_;
};

void save(const fs::path& path, std::string_view bytes, bool executable) {
  std::error_code error;
  if (path.has_parent_path()) fs::create_directories(path.parent_path(), error);
  if (error) {
    throw BrokenEnvironment(
        fmt::format("{}: cannot be written: {}", path.string(), error.message()));
  }
  write_whole(path.string(), bytes);
  if (executable) ::chmod(path.c_str(), 0755);
}

}  // namespace

std::vector<FileVersions> versions_of(const UnifiedPatch& patch, const std::string& name,
                                      const FileMap& base, std::vector<Finding>& errors,
                                      LineRule rule) {
  std::vector<FileVersions> out;
  FileMap tree = base;
  for (const UnifiedFile& f : patch.files) {
    // A second section of a file goes on from what the first made of it.
    const auto known = std::find_if(out.begin(), out.end(), [&](const FileVersions& v) {
      const bool in_place = v.path_before.empty() || v.path_before == v.path_after;
      return in_place && !f.path_before.empty() && v.path_after == f.path_before;
    });
    auto v = versions_of(f, name, known != out.end() ? tree : base, errors, rule);
    if (!v) continue;
    put_version(*v, tree);
    if (known == out.end()) {
      out.push_back(std::move(*v));
      continue;
    }
    known->path_after = v->path_after;
    known->after = std::move(v->after);
    known->mode_after = v->mode_after;
  }
  return out;
}

void put_version(const FileVersions& v, FileMap& tree) {
  if (!v.path_before.empty()) tree.put(v.path_before, {});
  if (v.path_after.empty()) return;
  const mode_t mode = v.path_before.empty() ? v.mode_after : v.mode_after & 07777;
  tree.put(v.path_after,
           {.source = std::make_shared<Source>(v.path_after, v.after), .mode = mode & 07777});
}

SeriesImport import_files(const std::vector<std::string>& files, const FileMap& base) {
  FilesImport run(base);
  for (const std::string& file : files)
    run.add_file(file);
  return run.take();
}

void write_import(const SeriesImport& series, const std::string& directory) {
  std::vector<BesideFile> files;
  std::string list;
  for (const SeriesImport::Item& item : series.patches) {
    list += item.name + (item.imported.options.empty() ? "" : " " + item.imported.options);
    const bool diff = item.remark.empty() && !item.imported.kept_diff.empty();
    const std::string remark = diff ? kKeptDiff : item.remark;
    list += (remark.empty() ? "" : "  # " + remark) + "\n";
    files.push_back({item.name, item.imported.text, false});
    const std::string inner = item.name.substr(0, item.name.rfind('/') + 1);
    for (const BesideFile& b : item.imported.beside)
      files.push_back({inner + b.name, b.bytes, b.executable});
  }
  files.push_back({"series", list, false});
  std::erase_if(files, [&](const BesideFile& f) {
    const fs::path path = fs::path(directory) / f.name;
    const auto there = read_whole(path.string());
    if (there && *there != f.bytes) {
      throw BrokenEnvironment(fmt::format("{}: is there and differs", path.string()));
    }
    return there.has_value();
  });
  for (const BesideFile& f : files)
    save(fs::path(directory) / f.name, f.bytes, f.executable);
}

}  // namespace patcher
