#include "patcher/foreign/unified_names.h"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "patcher/text/lines.h"

namespace patcher {

using std::string;
using std::string_view;

namespace {

// "1970-01-01 01:00:00.000000000 +0100", or another way to say when the clock began: the time that
// diff -N gives to a file that is not there.
bool is_epoch(const string& time) {
  int year = 0, month = 0, day = 0, hours = 0, minutes = 0, end = 0;
  std::sscanf(time.c_str(), "%4d-%2d-%2d %2d:%2d:00%n", &year, &month, &day, &hours, &minutes,
              &end);
  const bool eve = year == 1969 && month == 12 && day == 31;
  if (end == 0 || !(eve || (year == 1970 && month == 1 && day == 1))) return false;
  size_t zone = static_cast<size_t>(end);
  if (time[zone] == '.') zone = time.find_first_not_of('0', zone + 1);
  zone = time.find_first_not_of(" \t\r", std::min(zone, time.size()));
  if (zone == string::npos || (time[zone] != '-' && time[zone] != '+')) return false;
  // A zone is "+0100" or "+01:00".
  const string clock = time.substr(zone + 1);
  unsigned h = 0, m = 0;
  size_t used = 0;
  const char* form = clock.find(':') == 2 ? "%2u:%2u%zn" : "%2u%2u%zn";
  if (std::sscanf(clock.c_str(), form, &h, &m, &used) != 2 || used != clock.size()) return false;
  const int offset = static_cast<int>(h * 60 + m);
  return hours * 60 + minutes - (eve ? 24 * 60 : 0) == (time[zone] == '-' ? -offset : offset);
}

bool says_absent(string_view time) {
  time = trim(time, " \t\r");
  return is_epoch(string(time)) || time.ends_with("(nonexistent)") ||
         time.ends_with("(revision 0)");
}

// "./x" is x.
void take_dots(string& name) {
  size_t begin = 0;
  while (string_view(name).substr(begin).starts_with("./"))
    begin = std::min(name.find_first_not_of('/', begin + 1), name.size());
  name.erase(0, begin);
}

// Whether one name is the other with something behind it: "x.cpp" and "x.cpp.orig".
bool are_variations(string_view a, string_view b) {
  if (a.size() > b.size()) std::swap(a, b);
  return b.starts_with(a) && b.find('/', a.size()) == string_view::npos;
}

bool take_components(string& name, size_t count) {
  size_t begin = 0;
  for (; count > 0; --count) {
    begin = name.find('/', begin) + 1;
    if (begin == 0) return false;
  }
  name.erase(0, begin);
  return true;
}

}  // namespace

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
      constexpr string_view kLetters = "abtnvfr";  // in the order of the characters that they name
      const size_t letter = kLetters.find(text[++i]);
      out += letter == string_view::npos ? text[i] : static_cast<char>('\a' + letter);
    }
  }
  return out;
}

MarkedName name_behind_mark(string_view text) {
  const size_t tab = text.find('\t');
  MarkedName out{.path = unquoted_name(text.substr(0, tab))};
  if (tab != string_view::npos) out.absent = says_absent(trim(text.substr(tab + 1)));
  return out;
}

bool NamePrefixes::strip(UnifiedFile& f) {
  const bool made = f.path_before == "/dev/null";
  const bool gone = f.path_after == "/dev/null";
  bool good = true;
  if (count_) {
    good = (made || take_components(f.path_before, *count_)) &&
           (gone || take_components(f.path_after, *count_));
  } else {
    take_dots(f.path_before);
    take_dots(f.path_after);
    const auto rest = [](const string& p) { return p.substr(p.find('/') + 1); };
    const auto top = [](const string& p) { return p.substr(0, p.find('/') + 1); };
    const bool git =
        (made || f.path_before.starts_with("a/")) && (gone || f.path_after.starts_with("b/"));
    const bool two = !made && !gone && top(f.path_before) != top(f.path_after) &&
                     are_variations(rest(f.path_before), rest(f.path_after));
    if ((made || gone) && !git) lone_.insert(f.line);
    kept_ = kept_ || (!made && !gone && !git && !two);
    if (two && !git) stripped_.insert({top(f.path_before), top(f.path_after)});
    if (git || two) {
      f.path_before = rest(f.path_before);
      f.path_after = rest(f.path_after);
    }
  }
  good = good && !f.path_before.empty() && !f.path_after.empty();
  if (made) f.path_before.clear();
  if (gone) f.path_after.clear();
  return good;
}

bool NamePrefixes::settle_lone_name(UnifiedFile& f) const {
  string& name = f.path_before.empty() ? f.path_after : f.path_before;
  const string top = name.substr(0, name.find('/') + 1);
  if (top.empty() || !lone_.contains(f.line)) return true;
  if (!stripped_.contains(top)) return kept_;
  name.erase(0, top.size());
  return true;
}

void set_git_names(string_view text, UnifiedFile& f) {
  if (text.starts_with('"')) {
    const size_t middle = text.find("\" \"");
    if (middle == string_view::npos) return;
    f.path_before = unquoted_name(text.substr(0, middle + 1));
    f.path_after = unquoted_name(text.substr(middle + 2));
  } else if (text.size() > 2 && text[text.size() / 2] == ' ') {
    f.path_before = text.substr(0, text.size() / 2);
    f.path_after = text.substr(text.size() / 2 + 1);
  }
}

void settle_existence(UnifiedFile& f, const AbsentSides& absent) {
  if (f.path_before.empty() || f.path_after.empty() || f.hunks.size() != 1) return;
  const UnifiedHunk& h = f.hunks.front();
  const auto has_only = [&](char mark) {
    return std::all_of(h.lines.begin(), h.lines.end(),
                       [&](const auto& l) { return l.mark == mark; });
  };
  if (h.before_line == 0 && has_only('+')) {
    if (absent.before) f.path_before.clear();
    f.may_be_new = !absent.before;
  } else if (h.after_line == 0 && has_only('-') && absent.after) {
    f.path_after.clear();
  }
}

bool settle_name(UnifiedFile& f) {
  if (f.path_before.empty() || f.path_after.empty()) return true;
  if (!are_variations(f.path_before, f.path_after)) return false;
  if (f.path_before.size() < f.path_after.size()) {
    f.path_after = f.path_before;
  } else {
    f.path_before = f.path_after;
  }
  return true;
}

}  // namespace patcher
