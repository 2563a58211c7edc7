#include "patcher/foreign/svn_properties.h"

#include <fmt/format.h>

#include "patcher/text/lines.h"

namespace patcher {
namespace {

using std::string_view;

constexpr string_view kTitle = "Property changes on: ";

// The property that the line names: "Added: svn:eol-style"; older ones write "Name: ".
string_view property_named(string_view line) {
  for (const string_view key : {"Added: ", "Modified: ", "Deleted: ", "Name: "}) {
    if (line.starts_with(key)) return trim(line.substr(key.size()), " \t\r");
  }
  return {};
}

bool changes_the_tree(string_view property) {
  return property == "svn:executable" || property == "svn:special" || property == "svn:externals";
}

// Of a property's value, or between two.
bool is_inside(string_view line) {
  return line.empty() || line == "\r" || line.starts_with("____") || line.starts_with("## ") ||
         string_view(" +-\\").find(line.front()) != string_view::npos;
}

}  // namespace

PropertySection read_properties(const std::vector<string_view>& lines, size_t at) {
  PropertySection out;
  const string_view path = trim(lines[at].substr(kTitle.size()), " \t\r");
  for (out.end = at + 1; out.end < lines.size(); ++out.end) {
    const string_view line = lines[out.end];
    const string_view property = property_named(line);
    if (changes_the_tree(property) && out.fault.empty()) {
      out.fault_line = out.end;
      out.fault = fmt::format("the property `{}` of `{}` is not taken", property, path);
    }
    const bool file = line.starts_with("--- ") && out.end + 1 < lines.size() &&
                      lines[out.end + 1].starts_with("+++ ");
    if (file || (property.empty() && !is_inside(line))) break;
  }
  return out;
}

}  // namespace patcher
