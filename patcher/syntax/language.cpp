#include "patcher/syntax/language.h"

#include <algorithm>
#include <array>

extern "C" {
const TSLanguage* tree_sitter_c();
const TSLanguage* tree_sitter_cpp();
const TSLanguage* tree_sitter_cuda();
}

namespace patcher {
namespace {

constexpr std::array<std::string_view, 9> kCppEndings = {".h",   ".hpp", ".hh",  ".hxx", ".cc",
                                                         ".cpp", ".cxx", ".inl", ".ipp"};

bool ends_with_any(std::string_view path, auto& endings) {
  return std::any_of(endings.begin(), endings.end(),
                     [&](std::string_view ending) { return path.ends_with(ending); });
}

bool looks_like_cuda(std::string_view content) {
  return content.find("__global__") != std::string_view::npos ||
         (content.find("<<<") != std::string_view::npos &&
          content.find(">>>") != std::string_view::npos);
}

}  // namespace

Language choose_language(std::string_view path, std::string_view content) {
  if (path.ends_with(".cu") || path.ends_with(".cuh")) return Language::kCuda;
  if (path.ends_with(".c")) return Language::kC;
  if (!ends_with_any(path, kCppEndings)) return Language::kLines;
  return looks_like_cuda(content) ? Language::kCuda : Language::kCpp;
}

bool indentation_is_meaning(std::string_view path) {
  constexpr std::array<std::string_view, 6> kEndings = {".py",   ".pyi", ".pyx",
                                                        ".yaml", ".yml", ".clang-format"};
  return ends_with_any(path, kEndings);
}

std::string_view language_name(Language language) {
  switch (language) {
    case Language::kC:
      return "C";
    case Language::kCpp:
      return "C++";
    case Language::kCuda:
      return "CUDA";
    case Language::kLines:
      break;
  }
  return "lines";
}

const TSLanguage* grammar(Language language) {
  switch (language) {
    case Language::kC:
      return tree_sitter_c();
    case Language::kCpp:
      return tree_sitter_cpp();
    case Language::kCuda:
      return tree_sitter_cuda();
    case Language::kLines:
      break;
  }
  return nullptr;
}

}  // namespace patcher
