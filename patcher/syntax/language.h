#pragma once

#include <string_view>

struct TSLanguage;

namespace patcher {

enum class Language { kLines, kC, kCpp, kCuda };

// The grammar for a file, by its name and, for headers, its content: `.cu` and `.cuh` are CUDA, and
// so is a C++ file that contains a kernel launch or a `__global__` function (the C++ grammar turns
// launches into missing nodes); `.c` is C; `.h`, `.hpp`, `.cc`, `.cpp`, ... are C++; everything
// else is matched by lines.
Language choose_language(std::string_view path, std::string_view content);

// Whether a file's indentation says what belongs to what, by its name: Python, YAML.
bool indentation_is_meaning(std::string_view path);

// "CUDA", "C++", "C", "lines".
std::string_view language_name(Language language);

// The Tree-sitter grammar; null for kLines. Static storage.
const TSLanguage* grammar(Language language);

}  // namespace patcher
