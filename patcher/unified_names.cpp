#include "patcher/unified_names.h"

namespace patcher {

using std::string;
using std::string_view;

string unquoted_name(string_view text) {
  if (text.size() < 2 || text.front() != '"' || text.back() != '"') return string(text);
  string out;
  text = text.substr(1, text.size() - 2);
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 1 == text.size()) {
      out += text[i];
    } else if (text[i + 1] >= '0' && text[i + 1] <= '7' && i + 3 < text.size()) {
      out += static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 +
                               (text[i + 3] - '0'));
      i += 3;
    } else {
      out += text[++i] == 't' ? '\t' : text[i] == 'n' ? '\n' : text[i];
    }
  }
  return out;
}

string name_behind_mark(string_view text) {
  return unquoted_name(text.substr(0, text.find('\t')));
}

void strip_name_prefixes(UnifiedFile& f) {
  const bool made = f.path_before == "/dev/null";
  const bool gone = f.path_after == "/dev/null";
  const auto rest = [](const string& p) { return p.substr(p.find('/') + 1); };
  const bool git =
      (made || f.path_before.starts_with("a/")) && (gone || f.path_after.starts_with("b/"));
  const bool two =
      !made && !gone && f.path_before != f.path_after && rest(f.path_before) == rest(f.path_after);
  if (git || two) {
    f.path_before = rest(f.path_before);
    f.path_after = rest(f.path_after);
  }
  if (made) f.path_before.clear();
  if (gone) f.path_after.clear();
}

void set_git_names(string_view text, UnifiedFile& f) {
  if (text.starts_with('"')) {
    const size_t middle = text.find("\" \"");
    if (middle == string_view::npos) return;
    f.path_before = unquoted_name(text.substr(0, middle + 1));
    f.path_after = unquoted_name(text.substr(middle + 2));
  } else {
    f.path_before = text.substr(0, text.size() / 2);
    f.path_after = text.substr(text.size() / 2 + 1);
  }
  strip_name_prefixes(f);
}

}  // namespace patcher
