// Any bytes as a file before a change, after it, and in another version, separated by unit
// separators (0x1F): the change is written as an anchored patch, and carried to the other version.
#include <cstdlib>
#include <iostream>

#include "patcher/carry/carry_file.h"
#include "patcher/foreign/unified.h"
#include "patcher/import/import.h"
#include "patcher/series/judge.h"

namespace {

using namespace patcher;

constexpr const char* kPaths[] = {"a.cpp", "a.c", "a.cu", "a.md"};

class OneFile : public FileOrigin {
 public:
  OneFile(std::string path, std::string_view bytes) : path_(std::move(path)), bytes_(bytes) {}
  FileState read(const std::string& path) override {
    if (path != path_) return {};
    return {.source = std::make_shared<Source>(path, bytes_)};
  }

 private:
  std::string path_;
  std::string bytes_;
};

[[noreturn]] void broken(const char* promise, std::string_view text) {
  std::cerr << "broken promise: " << promise << "\n" << text << "\n";
  std::abort();
}

void import(const std::string& path, std::string_view before, std::string_view after) {
  const Imported made = import_change({.name = "p.patch",
                                       .subject = "s",
                                       .files = {{.path_before = path,
                                                  .path_after = path,
                                                  .before = std::string(before),
                                                  .after = std::string(after)}}});
  if (made.text.empty() == made.errors.empty()) broken("a patch or an error", made.text);
  if (made.text.empty()) return;
  const Patch patch = made.kept_diff.empty()
                          ? parse_patch("p.patch", made.text)
                          : patch_of("p.patch", parse_unified("p.patch", made.text));
  if (!patch.usable()) broken("what is written can be read", made.text);
  const FileMap base(std::make_shared<OneFile>(path, before));
  const FileMap result(std::make_shared<OneFile>(path, after));
  const Judgement applied = judge(patch, base);
  if (applied.verdict != Verdict::kApplies) broken("it applies to its base", made.text);
  if (!applied.after.same_as(result)) broken("it makes exactly the change", made.text);
  if (judge(patch, result).verdict != Verdict::kAlreadyApplied) {
    broken("it is found to be applied", made.text);
  }
  // Maybe to other blanks and line ends than the base's, which a note of the judgement says.
  if (!take_off(patch, result)) broken("it comes off", made.text);
}

void carry(const std::string& path, std::string_view before, std::string_view after,
           std::string_view target) {
  const Source base(path, std::string(before));
  const Source there(path, std::string(target));
  const CarriedFile carried = carry_file(base, std::string(after), there);
  if (!carried.failure && carried.bytes == target) broken("what is carried changes something", "");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string path = kPaths[data[0] % std::size(kPaths)];
  const std::string_view text(reinterpret_cast<const char*>(data + 1), size - 1);
  const size_t first = text.find('\x1F');
  if (first == std::string_view::npos) return 0;
  const size_t second = text.find('\x1F', first + 1);
  const std::string_view before = text.substr(0, first);
  const std::string_view after = text.substr(first + 1, second - first - 1);
  import(path, before, after);
  if (second != std::string_view::npos) carry(path, before, after, text.substr(second + 1));
  return 0;
}
