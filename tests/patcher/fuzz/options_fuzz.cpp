// Any bytes as a command line (arguments end at a NUL), and as the journal that a killed run left,
// which is the one JSON that the program reads.
#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "patcher/base/error.h"
#include "patcher/cli/command_line.h"
#include "patcher/write/journal.h"

namespace {

using namespace patcher;

void command_line(std::string_view text) {
  std::vector<std::string> words{"patcher"};
  while (!text.empty()) {
    const size_t end = std::min(text.find('\0'), text.size());
    words.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  std::vector<const char*> args;
  for (const std::string& word : words)
    args.push_back(word.c_str());
  CommandLine line;
  try {
    const Asked asked = line.parse(args);
    const int told = (asked.command != nullptr ? 1 : 0) + (asked.text.empty() ? 0 : 1) +
                     (asked.fault.empty() ? 0 : 1);
    if (told != 1) std::abort();
  } catch (const BrokenEnvironment&) {
    return;
  }
}

void journal(std::string_view text) {
  static const std::string directory = [] {
    std::string pattern = (std::filesystem::temp_directory_path() / "patcher-fuzz-XXXXXX").string();
    return std::string(mkdtemp(pattern.data()));
  }();
  std::ofstream(directory + "/" + std::string(kJournalName)) << text;
  std::ofstream(directory + "/kept.cpp") << "int kept;\n";
  try {
    recover(TreeRoot(directory));
  } catch (const BrokenEnvironment&) {
    return;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (text.starts_with('{')) {
    journal(text);
  } else {
    command_line(text);
  }
  return 0;
}
