#include "patcher/text/last_newline.h"

namespace patcher {

std::string with_last_newline(std::string text, bool ended) {
  if (ended) return text + (text.find("\r\n") != std::string::npos ? "\r\n" : "\n");
  text.pop_back();
  if (text.ends_with('\r')) text.pop_back();
  return text;
}

}  // namespace patcher
