#include "patcher/write/journal.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "patcher/base/error.h"
#include "patcher/patch/patch.h"

namespace patcher {
namespace {

using nlohmann::json;

std::string temporary_for(const std::string& path) {
  const size_t slash = path.rfind('/') + 1;
  return path.substr(0, slash) + ".patcher-new-" + path.substr(slash);
}

// A path in ASCII, as JSON may hold it: a file's name need not be UTF-8.
std::string escaped(const std::string& path) {
  std::string out;
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    out += byte >= 0x80 || c == '%' ? fmt::format("%{:02X}", byte) : std::string(1, c);
  }
  return out;
}

// Throws std::logic_error for what escaped() never makes.
std::string unescaped(const std::string& text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
    } else {
      out += static_cast<char>(std::stoi(text.substr(i + 1, 2), nullptr, 16));
      i += 2;
    }
  }
  return out;
}

struct Step {
  std::string path;
  bool remove = false;
};

struct Journal {
  std::string state;
  std::vector<Step> steps;
  std::vector<std::string> made_directories;  // outermost first
};

class Writer {
 public:
  Writer(const TreeRoot& root, const WriteHook& hook) : root_(root), hook_(hook) {
    if (::flock(root.descriptor(), LOCK_EX | LOCK_NB) != 0) {
      throw BrokenEnvironment(fmt::format("{}: another run holds the tree", root.directory()));
    }
  }
  ~Writer() { ::flock(root_.descriptor(), LOCK_UN); }
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  std::vector<std::string> write(const FileMap& result) {
    std::vector<std::string> paths = result.changed();
    if (paths.empty()) return paths;
    for (const std::string& path : paths)
      check_unchanged(path, result.on_disk(path));
    for (const std::string& path : paths) {
      journal_.steps.push_back({path, !result.get(path).exists()});
      if (result.get(path).exists()) note_directories(path);
    }
    save("prepare");
    try {
      for (const Step& step : journal_.steps) {
        if (!step.remove) prepare(step.path, result.get(step.path));
      }
      save("commit");
    } catch (const BrokenEnvironment&) {
      roll_back();
      throw;
    }
    finish();
    return paths;
  }

  Recovery recover() {
    const FileState file = root_.read(std::string(kJournalName));
    if (!file.exists() && file.unsafe.empty()) {
      drop_unborn_journal();
      return Recovery::kNothing;
    }
    load(file.exists() ? file.source->bytes() : "");
    if (journal_.state == "commit") {
      finish();
      return Recovery::kFinished;
    }
    roll_back();
    return Recovery::kRolledBack;
  }

 private:
  void step(std::string_view what, const std::string& path) const {
    if (hook_) hook_(fmt::format("{} {}", what, path));
  }

  // A path of the tree as whoever stands outside of it names it.
  std::string shown(std::string_view path) const {
    return fmt::format("{}/{}", root_.directory(), path);
  }

  [[noreturn]] void broken(std::string_view what, std::string_view path) const {
    const char* why = std::strerror(errno);
    throw BrokenEnvironment(fmt::format("{}: {}: {}", shown(path), what, why));
  }

  [[noreturn]] void bad_journal(std::string_view what) const {
    throw BrokenEnvironment(fmt::format("{} {}", shown(kJournalName), what));
  }

  void check_unchanged(const std::string& path, const FileState& seen) const {
    const FileState now = root_.read(path);
    if (!now.unsafe.empty() || !same_state(now, seen)) {
      throw BrokenEnvironment(
          fmt::format("{}: changed while the patches were judged", shown(path)));
    }
  }

  void note_directories(const std::string& path) {
    for (size_t slash = path.find('/'); slash != std::string::npos;
         slash = path.find('/', slash + 1)) {
      const std::string directory = path.substr(0, slash);
      if (root_.parent(directory + "/x")) continue;
      auto& made = journal_.made_directories;
      if (std::find(made.begin(), made.end(), directory) == made.end()) made.push_back(directory);
    }
  }

  Descriptor open_parent(const std::string& path, bool create = false) const {
    Descriptor directory = root_.parent(path, create);
    if (!directory) broken("open directory", path);
    return directory;
  }

  void sync_parent(const std::string& path) const {
    const Descriptor directory = root_.parent(path);
    if (directory) ::fsync(directory.get());
  }

  // --- the journal itself

  void save(const std::string& state) {
    journal_.state = state;
    json j{{"state", state}, {"directories", json::array()}, {"steps", json::array()}};
    for (const std::string& d : journal_.made_directories)
      j["directories"].push_back(escaped(d));
    for (const Step& s : journal_.steps) {
      j["steps"].push_back({{"path", escaped(s.path)}, {"remove", s.remove}});
    }
    const std::string name(kJournalName);
    write_file(name + "-new", j.dump(1) + "\n", 0644);
    step("rename journal", state);
    const int fd = root_.descriptor();
    if (::renameat(fd, (name + "-new").c_str(), fd, name.c_str()) != 0) broken("rename", name);
    ::fsync(fd);
  }

  // A journal is a file of the tree, so that anybody may have written it.
  void load(const std::string& text) {
    const json j = json::parse(text, nullptr, /*allow_exceptions=*/false);
    try {
      journal_.state = j.at("state");
      for (const json& d : j.at("directories"))
        journal_.made_directories.push_back(unescaped(d));
      for (const json& s : j.at("steps"))
        journal_.steps.push_back({unescaped(s.at("path")), s.at("remove")});
    } catch (const json::exception&) {
      bad_journal("is not a journal");
    } catch (const std::logic_error&) {
      bad_journal("is not a journal");
    }
    if (journal_.state != "prepare" && journal_.state != "commit") {
      bad_journal("is in no state that is known");
    }
    const auto unsafe = [](const std::string& path) { return !is_safe_path(path); };
    const auto& made = journal_.made_directories;
    if (std::any_of(made.begin(), made.end(), unsafe) ||
        std::any_of(journal_.steps.begin(), journal_.steps.end(),
                    [&](const Step& s) { return unsafe(s.path); })) {
      bad_journal("names an unsafe path");
    }
  }

  // Killed before the first journal had its name: nothing else was written yet.
  void drop_unborn_journal() const {
    ::unlinkat(root_.descriptor(), (std::string(kJournalName) + "-new").c_str(), 0);
  }

  void remove_journal() {
    const std::string name(kJournalName);
    step("remove journal", name);
    drop_unborn_journal();
    if (::unlinkat(root_.descriptor(), name.c_str(), 0) != 0 && errno != ENOENT) {
      broken("remove", name);
    }
    ::fsync(root_.descriptor());
  }

  // --- the files

  void write_file(const std::string& path, std::string_view bytes, mode_t mode) const {
    step("create", path);
    const Descriptor directory = open_parent(path, true);
    const std::string name(last_component(path));
    ::unlinkat(directory.get(), name.c_str(), 0);
    constexpr int kFlags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
    const Descriptor file(::openat(directory.get(), name.c_str(), kFlags, 0600));
    if (!file) broken("create", path);
    step("write", path);
    write_all(file.get(), bytes, path);
    if (::fchmod(file.get(), mode) != 0) broken("set the mode", path);
    if (::fsync(file.get()) != 0) broken("sync", path);
  }

  void write_all(int fd, std::string_view bytes, std::string_view path) const {
    while (!bytes.empty()) {
      const ssize_t n = ::write(fd, bytes.data(), bytes.size());
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) broken("write", path);
      bytes.remove_prefix(static_cast<size_t>(n));
    }
  }

  void prepare(const std::string& path, const FileState& state) const {
    write_file(temporary_for(path), state.source->bytes(), state.mode);
    sync_parent(path);
  }

  // Every step may have been done already by a run that was cut off.
  void finish() {
    for (const Step& s : journal_.steps) {
      const Descriptor directory = s.remove ? root_.parent(s.path) : open_parent(s.path);
      const std::string name(last_component(s.path));
      const std::string temporary(last_component(temporary_for(s.path)));
      step(s.remove ? "remove" : "rename", s.path);
      if (s.remove) {
        if (directory) ::unlinkat(directory.get(), name.c_str(), 0);
      } else if (::renameat(directory.get(), temporary.c_str(), directory.get(), name.c_str()) !=
                     0 &&
                 errno != ENOENT) {
        broken("rename", s.path);
      }
    }
    for (const Step& s : journal_.steps)
      sync_parent(s.path);
    for (const Step& s : journal_.steps) {
      if (s.remove) remove_empty_parents(s.path);
    }
    remove_journal();
  }

  // A directory that deleting left empty goes too, as installing made it. One that is gone may have
  // gone in a run that was cut off before it came to the next.
  void remove_empty_parents(std::string path) const {
    for (size_t slash = path.rfind('/'); slash != std::string::npos; slash = path.rfind('/')) {
      path.resize(slash);
      const Descriptor parent = root_.parent(path);
      const std::string name(last_component(path));
      if (!parent) continue;
      if (::unlinkat(parent.get(), name.c_str(), AT_REMOVEDIR) != 0 && errno != ENOENT) return;
    }
  }

  void roll_back() {
    for (const Step& s : journal_.steps) {
      if (s.remove) continue;
      const std::string temporary = temporary_for(s.path);
      const Descriptor directory = root_.parent(temporary);
      step("remove", temporary);
      if (directory) ::unlinkat(directory.get(), std::string(last_component(temporary)).c_str(), 0);
    }
    auto& made = journal_.made_directories;
    for (auto it = made.rbegin(); it != made.rend(); ++it) {
      const Descriptor parent = root_.parent(*it);
      step("remove directory", *it);
      if (!parent) continue;
      ::unlinkat(parent.get(), std::string(last_component(*it)).c_str(), AT_REMOVEDIR);
    }
    remove_journal();
  }

  const TreeRoot& root_;
  const WriteHook& hook_;
  Journal journal_;
};

}  // namespace

bool has_journal(const TreeRoot& root) {
  return root.read(std::string(kJournalName)).exists();
}

std::vector<std::string> write_tree(const TreeRoot& root, const FileMap& result,
                                    const WriteHook& hook) {
  return Writer(root, hook).write(result);
}

Recovery recover(const TreeRoot& root, const WriteHook& hook) {
  return Writer(root, hook).recover();
}

}  // namespace patcher
