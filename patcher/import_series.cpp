#include "patcher/import_series.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
#include <set>
#include <sstream>

#include "patcher/error.h"
#include "patcher/series.h"

namespace patcher {
namespace {

namespace fs = std::filesystem;

std::optional<std::string> read_file(const fs::path& path) {
  std::error_code ignored;
  if (!fs::is_regular_file(path, ignored)) return std::nullopt;
  std::ifstream in(path, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  if (!in) return std::nullopt;
  return std::move(out).str();
}

std::string_view without_cr(std::string_view text) {
  if (text.ends_with('\r')) text.remove_suffix(1);
  return text;
}

constexpr size_t kMostShown = 5;  // places of one hunk

// One file's hunks done to its bytes.
class Redo {
 public:
  Redo(const UnifiedFile& file, const std::string& before, LineRule rule)
      : file_(file), before_(before), lines_(before), rule_(rule) {}

  std::optional<std::string> run() {
    if (!find(&Redo::stated) && (rule_ == LineRule::kStated || !find(&Redo::only))) {
      return std::nullopt;
    }
    size_t next = 0;
    for (size_t h = 0; h < places_.size(); ++h) {
      for (; next < places_[h]; ++next)
        keep(next);
      for (const UnifiedLine& l : file_.hunks[h].lines) {
        if (l.mark == '+') {
          add(next, l);
          continue;
        }
        if (l.mark == ' ') keep(next);
        ++next;
      }
    }
    for (; next < lines_.count(); ++next)
      keep(next);
    return std::move(out_);
  }

  int misfit_line() const { return misfit_line_; }

  // What is wrong with the hunk at misfit_line().
  std::string misfit() const {
    if (fits_.empty()) return "the base has other text there: the diff was taken from another";
    std::string lines;
    for (const size_t at : fits_)
      lines += fmt::format("{}{}", lines.empty() ? "" : ", ", at + 1);
    return fmt::format(
        "the base has other text at the line that the hunk names, and its text at lines {}: which "
        "is meant?",
        lines);
  }

 private:
  using Rule = std::optional<size_t> (Redo::*)(const UnifiedHunk&, size_t);

  // The first line of each hunk, in order, by one rule for all: a diff whose numbers are wrong in
  // one place may fit by chance in another.
  bool find(Rule rule) {
    places_.clear();
    size_t next = 0;
    for (const UnifiedHunk& h : file_.hunks) {
      const auto at = (this->*rule)(h, next);
      if (!at) return false;
      places_.push_back(*at);
      next = *at + before_count(h);
    }
    return true;
  }

  static size_t before_count(const UnifiedHunk& h) {
    return static_cast<size_t>(
        std::count_if(h.lines.begin(), h.lines.end(), [](const auto& l) { return l.mark != '+'; }));
  }

  std::optional<size_t> stated(const UnifiedHunk& h, size_t next) {
    const size_t begin = h.before_line + (before_count(h) == 0 ? 1 : 0);
    if (begin == 0 || begin - 1 < next || !fits(h, begin - 1)) {
      if (misfit_line_ == 0) misfit_line_ = h.line;
      return std::nullopt;
    }
    return begin - 1;
  }

  // Where it stands in all of the file, if that is one place.
  std::optional<size_t> only(const UnifiedHunk& h, size_t next) {
    fits_.clear();
    for (size_t at = 0; before_count(h) > 0 && at < lines_.count(); ++at) {
      if (fits(h, at)) fits_.push_back(at);
      if (fits_.size() == kMostShown) break;
    }
    if (fits_.size() == 1 && fits_.front() >= next) return fits_.front();
    misfit_line_ = h.line;
    if (fits_.size() == 1) fits_.clear();
    return std::nullopt;
  }

  bool fits(const UnifiedHunk& h, size_t at) {
    if (at > lines_.count()) return false;
    for (const UnifiedLine& l : h.lines) {
      if (l.mark == '+') continue;
      if (at >= lines_.count() || without_cr(l.text) != lines_.text(at)) {
        if (rule_ == LineRule::kStated) misfit_line_ = l.line;
        return false;
      }
      ++at;
    }
    return true;
  }

  void keep(size_t line) {
    out_ +=
        std::string_view(before_).substr(lines_.begin(line), lines_.end(line) - lines_.begin(line));
  }

  // A diff that lost its carriage returns on the way takes those of the line where it lands.
  void add(size_t line, const UnifiedLine& l) {
    out_ += l.text;
    if (l.no_newline) return;
    const size_t like = line < lines_.count() ? line : lines_.count() - 1;
    const bool crlf = lines_.count() > 0 && lines_.line_end(like) == "\r\n";
    out_ += crlf && !l.text.ends_with('\r') ? "\r\n" : "\n";
  }

  const UnifiedFile& file_;
  const std::string& before_;
  const Lines lines_;
  LineRule rule_;
  std::vector<size_t> places_;
  std::string out_;
  int misfit_line_ = 0;
  std::vector<size_t> fits_;  // where the hunk that was looked for fits
};

Finding problem(Verdict verdict, const std::string& name, int line, const std::string& path,
                std::string message) {
  return {.verdict = verdict,
          .place = {.file = path},
          .origin = {.file = name, .line = line, .column = 1},
          .message = std::move(message)};
}

std::optional<FileVersions> versions_of(const UnifiedFile& f, const std::string& name,
                                        const FileMap& base, std::vector<Finding>& errors,
                                        LineRule rule) {
  FileVersions v{.path_before = f.path_before, .path_after = f.path_after};
  v.mode_after = f.mode_after.value_or(0644);
  if (f.path_before.empty()) {
    v.after = f.side('+');
    return v;
  }
  const FileState state = base.get(f.path_before);
  if (!state.exists()) {
    errors.push_back(
        problem(Verdict::kFileMissing, name, f.line, f.path_before, "is not in the base"));
    return std::nullopt;
  }
  v.before = state.source->bytes();
  v.mode_before = state.mode;
  v.mode_after = f.mode_after.value_or(state.mode);
  Redo redo(f, v.before, rule);
  const auto after = redo.run();
  if (!after) {
    errors.push_back(
        problem(Verdict::kMissing, name, redo.misfit_line(), f.path_before, redo.misfit()));
    return std::nullopt;
  }
  v.after = *after;
  if (f.path_after.empty() && !v.after.empty()) {
    errors.push_back(problem(Verdict::kMissing, name, f.line, f.path_before,
                             "the diff deletes the file but not all of its lines"));
    return std::nullopt;
  }
  return v;
}

void save(const fs::path& path, std::string_view bytes, bool executable) {
  std::error_code error;
  if (path.has_parent_path()) fs::create_directories(path.parent_path(), error);
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out << bytes;
  if (error || !out.flush()) {
    throw BrokenEnvironment(fmt::format("{}: cannot be written", path.string()));
  }
  if (executable) ::chmod(path.c_str(), 0755);
}

}  // namespace

std::vector<FileVersions> versions_of(const UnifiedPatch& patch, const std::string& name,
                                      const FileMap& base, std::vector<Finding>& errors,
                                      LineRule rule) {
  std::vector<FileVersions> out;
  for (const UnifiedFile& f : patch.files) {
    if (auto v = versions_of(f, name, base, errors, rule)) out.push_back(std::move(*v));
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
  SeriesImport out;
  FileMap tree = base;
  std::set<std::string> names;
  for (const std::string& file : files) {
    if (const std::string fault = size_fault(file); !fault.empty()) {
      out.errors.push_back(problem(Verdict::kMalformed, file, 1, "", "the file " + fault));
      continue;
    }
    const auto text = read_file(file);
    if (!text) throw BrokenEnvironment(fmt::format("{}: cannot read the patch", file));
    const UnifiedPatch patch = parse_unified(file, *text);
    std::vector<Finding> errors = patch.errors;
    SourceChange change{.name = fs::path(file).filename().replace_extension(".patch").string(),
                        .subject = patch.subject,
                        .why = patch.why};
    if (change.subject.empty()) change.subject = fs::path(file).stem().string();
    if (!names.insert(change.name).second) {
      errors.push_back(problem(Verdict::kMalformed, file, 1, "", "two patches have this name"));
    }
    if (errors.empty()) change.files = versions_of(patch, file, tree, errors);
    SeriesImport::Item item{.name = change.name};
    if (errors.empty()) {
      item.imported = import_change(change);
      errors = item.imported.errors;
      for (const FileVersions& v : change.files)
        put_version(v, tree);
    }
    out.errors.insert(out.errors.end(), errors.begin(), errors.end());
    out.patches.push_back(std::move(item));
  }
  return out;
}

void write_import(const SeriesImport& series, const std::string& directory) {
  std::vector<BesideFile> files;
  std::string list;
  for (const SeriesImport::Item& item : series.patches) {
    list += item.name + (item.remark.empty() ? "" : "  # " + item.remark) + "\n";
    files.push_back({item.name, item.imported.text, false});
    const std::string inner = item.name.substr(0, item.name.rfind('/') + 1);
    for (const BesideFile& b : item.imported.beside)
      files.push_back({inner + b.name, b.bytes, b.executable});
  }
  files.push_back({"series", list, false});
  std::erase_if(files, [&](const BesideFile& f) {
    const fs::path path = fs::path(directory) / f.name;
    const auto there = read_file(path);
    if (there && *there != f.bytes) {
      throw BrokenEnvironment(fmt::format("{}: is there and differs", path.string()));
    }
    return there.has_value();
  });
  for (const BesideFile& f : files)
    save(fs::path(directory) / f.name, f.bytes, f.executable);
}

}  // namespace patcher
