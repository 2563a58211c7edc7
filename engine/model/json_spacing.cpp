#include "model/json_spacing.h"

namespace engine::model {
namespace {

// Where the string that begins at `begin` ends, past its closing quote.
std::size_t string_end(std::string_view json, std::size_t begin) {
  std::size_t at = begin + 1;
  while (at < json.size() && json[at] != '"')
    at += json[at] == '\\' ? 2 : 1;
  return at + 1;
}

}  // namespace

std::string spaced_json(std::string_view json) {
  std::string spaced;
  for (std::size_t at = 0; at < json.size();) {
    const char c = json[at];
    if (c == '"') {
      const std::size_t end = string_end(json, at);
      spaced += json.substr(at, end - at);
      at = end;
      continue;
    }
    if (c != ' ' && c != '\t' && c != '\n' && c != '\r') spaced += c;
    if (c == ',' || c == ':') spaced += ' ';
    ++at;
  }
  return spaced;
}

}  // namespace engine::model
