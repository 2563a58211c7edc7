// The page of `diff --html`: what it says, that nothing in a patch is markup, and, where Debian's
// chromium is installed, how a browser lays it out.
#include <cstdio>

#include "patcher/base/verdict.h"
#include "patcher/report/html.h"
#include "tests/patcher/scratch.h"

namespace patcher {
namespace {

class ReviewPage : public testing::Test {
 protected:
  std::string page(int code = 0) {
    EXPECT_EQ(s.run({"diff", "--html", file()}), code) << s.err;
    return read_bytes(file());
  }
  std::string file() const { return (s.directory() / "review.html").string(); }

  void long_lines() {
    const std::string wide(400, 'x');
    s.file("runtime/a.cpp", "void f() {\n  int " + wide + " = 1;\n  go(1);\n}\n");
    s.patch("1.patch", "--- runtime/a.cpp\n+++ runtime/a.cpp\n@@ f @@\n-  go(1);\n+  " + wide +
                           "(2, \"text\");\n");
  }

  Scratch s;
};

TEST_F(ReviewPage, HasWhyVerdictAnchorAndColours) {
  s.file("a.cpp", "int z;\n\nvoid f() {\n  return 1;  // note\n}\n");
  s.patch("1.patch", "--- a.cpp\n+++ a.cpp\n@@ f @@\n-  return 1;\n+  return 2;\n");
  const std::string html = page();
  EXPECT_TRUE(holds(html, "<p>test</p>")) << html;
  EXPECT_TRUE(holds(html, "<span class=\"verdict ok\">applies</span>"));
  EXPECT_TRUE(holds(html,
                    "<i class=\"\">4</i><code class=\"del anchor\">  <b class=\"k\">return</b> "
                    "<mark><b class=\"n\">1</b></mark>;  <b class=\"c\">// note</b></code>"))
      << html;
  EXPECT_TRUE(holds(html, "<code class=\"\"><b class=\"k\">int</b> z;</code>"));
  EXPECT_EQ(page(), html);
}

TEST_F(ReviewPage, TakesNothingOfAPatchForMarkup) {
  const std::string evil = "</code><script>alert(1)</script>&amp;\"'";
  s.file("a<script>.cpp", "// " + evil + "\nconst char* t = \"<script>\";\nint a;\n");
  write_bytes(s.patches() / "1.patch", "Subject: " + evil + "\nWhy: " + evil +
                                           "\n--- a<script>.cpp\n+++ a<script>.cpp\n@@ file @@\n"
                                           "-int a;\n+int b;  // " +
                                           evil + "\n");
  write_bytes(s.patches() / "series", "1.patch\n");
  std::string html = page();
  EXPECT_FALSE(holds(html, "<script"));
  EXPECT_FALSE(holds(html, "alert(1)</script"));
  EXPECT_TRUE(
      holds(html, "&lt;/code&gt;&lt;script&gt;alert(1)&lt;/script&gt;&amp;amp;&quot;&#39;"));
  // Refused, it shows the hunk as it is written.
  s.file("a<script>.cpp", "// " + evil + "\nint c;\n");
  html = page(exit_code(Verdict::kMissing));
  EXPECT_FALSE(holds(html, "<script"));
  EXPECT_TRUE(holds(html, "<span class=\"verdict bad\">missing</span>")) << html;
  EXPECT_TRUE(holds(html, "int b;  // &lt;/code&gt;"));
}

TEST_F(ReviewPage, NeedsNothingElse) {
  long_lines();
  const std::string html = page();
  for (const char* outside : {"http:", "https:", "src=", "<link", "@import", "url("})
    EXPECT_FALSE(holds(html, outside)) << outside;
  EXPECT_TRUE(holds(html, "name=\"viewport\""));
}

TEST_F(ReviewPage, ThatCannotBeWrittenIsAnError) {
  long_lines();
  EXPECT_EQ(s.run({"diff", "--html", "/nonexistent/x.html"}), kExitEnvironment);
  EXPECT_TRUE(holds(s.err, "/nonexistent/x.html: cannot be written"));
}

TEST(Html, ReplacesBytesThatAreNoText) {
  EXPECT_EQ(html_escaped("caf\xE9 \xC3\xA9 \x1b[0m \xED\xA0\x80"),
            "caf\xEF\xBF\xBD \xC3\xA9 \xEF\xBF\xBD[0m \xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");
}

// What a browser measures of the page at a width: "scrollWidth clientWidth columns".
std::string measured(const std::string& html, const std::filesystem::path& directory, int width) {
  write_bytes(directory / "measured.html",
              html +
                  "<script>const h = document.querySelector('.hunk');"
                  "document.title = [document.documentElement.scrollWidth <= innerWidth,"
                  "innerWidth, getComputedStyle(h).gridTemplateColumns.split(' ').length]"
                  ".join(' ')</script>");
  const std::string command =
      "chromium --headless --no-sandbox --disable-gpu --user-data-dir='" +
      (directory / "profile").string() + "' --window-size=" + std::to_string(width) +
      ",900 --dump-dom 'file://" + (directory / "measured.html").string() + "' 2>/dev/null";
  FILE* pipe = popen(command.c_str(), "r");
  std::string dom;
  for (int c = 0; (c = fgetc(pipe)) != EOF;)
    dom += static_cast<char>(c);
  pclose(pipe);
  const size_t begin = dom.find("<title>") + 7;
  return dom.substr(begin, dom.find("</title>") - begin);
}

TEST_F(ReviewPage, FitsAPhoneAndADesk) {
  if (std::system("command -v chromium >/dev/null 2>&1") != 0) {
    GTEST_SKIP() << "chromium is not installed (Debian package chromium): layout not looked at";
  }
  long_lines();
  const std::string html = page();
  EXPECT_EQ(measured(html, s.directory(), 1400), "true 1400 4");
  // Headless windows have a least width of their own; it is a narrow one.
  const std::string phone = measured(html, s.directory(), 390);
  EXPECT_TRUE(phone.starts_with("true ") && phone.ends_with(" 2")) << phone;
}

}  // namespace
}  // namespace patcher
