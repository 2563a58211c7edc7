#include "patcher/syntax/health.h"

#include <gtest/gtest.h>

#include "patcher/syntax/source.h"

namespace patcher {
namespace {

std::string broken(const std::string& name) {
  return "int " + name + "() {\n  return 1 +* ;\n}\n";
}

std::string whole(const std::string& name) {
  return "int " + name + "() {\n  return 1;\n}\n";
}

// The line that is damaged after the edits and was not before, 0 where there is none.
int new_line(const std::string& before, const std::vector<ByteEdit>& edits) {
  const Source a("a.cpp", before);
  const Source b("a.cpp", apply_edits(before, edits));
  EXPECT_FALSE(a.damage().empty());
  const auto damage = new_damage(a, edits, b);
  return damage ? b.place(damage->begin).line : 0;
}

// Instead of the function `name`, which is whole.
ByteEdit breaks(const std::string& text, const std::string& name) {
  const auto begin = static_cast<uint32_t>(text.find(whole(name)));
  return {begin, begin + static_cast<uint32_t>(whole(name).size()), broken(name)};
}

TEST(NewDamage, IsNotWhatWasThereBefore) {
  const std::string text = broken("a") + whole("b") + whole("c") + broken("d") + broken("e");
  EXPECT_EQ(new_line(text, {}), 0);
  EXPECT_EQ(new_line(text, {{0, 0, "int x;\n"}, breaks(text, "c")}), 9);
  const auto end = static_cast<uint32_t>(text.size());
  EXPECT_EQ(new_line(text, {{end, end, broken("f")}}), 17);
  EXPECT_EQ(new_line(text, {{0, 0, broken("f")}}), 2);
}

TEST(NewDamage, IsWhatAnEditThatMendsOneAndBreaksTwoBreaks) {
  const std::string text = broken("a") + whole("b") + whole("c") + broken("d");
  const ByteEdit mends = {0, static_cast<uint32_t>(broken("a").size()), whole("a") + "int x;\n"};
  EXPECT_EQ(new_line(text, {mends, breaks(text, "b"), breaks(text, "c")}), 6);
}

}  // namespace
}  // namespace patcher
