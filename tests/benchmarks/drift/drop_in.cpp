// One file's change carried to another version of the file, for harnesses that compare tools:
//   drop_in BEFORE AFTER TARGET   the target with the change BEFORE..AFTER on stdout; exit 1 and a
//                                 reason on stderr where it is refused
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>

#include "patcher/carry/carry_file.h"

namespace {

std::string read(const char* path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  if (!in) throw std::runtime_error(std::string(path) + ": cannot be read");
  return std::move(out).str();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::cerr << "usage: drop_in BEFORE AFTER TARGET\n";
    return 2;
  }
  try {
    const std::string name = std::filesystem::path(argv[3]).filename().string();
    const patcher::Source base(name, read(argv[1]));
    const patcher::Source target(name, read(argv[3]));
    const patcher::CarriedFile carried = patcher::carry_file(base, read(argv[2]), target);
    if (carried.failure) {
      std::cerr << carried.failure->origin.line << ": " << carried.failure->message << "\n";
      return 1;
    }
    std::cout << carried.bytes;
    return std::cout.flush() ? 0 : 2;
  } catch (const std::exception& e) {
    std::cerr << e.what() << "\n";
    return 2;
  }
}
