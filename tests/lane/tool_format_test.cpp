#include "lane/tool_format.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lane/served_model.h"

namespace engine::lane {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::served_micro;

ToolFormat named(std::string_view name) {
  return ToolFormat::named(name, served_micro().model);
}

const ToolCall kCall{"", "f", R"({"a": 1, "b": [true, "x"]})"};
const ToolCall kOther{"", "g", "{}"};

TEST(ToolFormat, Json) {
  const ToolFormat format = *served_micro().format;
  EXPECT_EQ(format.begin, "<tool_call>");
  EXPECT_THAT(format.parse(R"( {"arguments":{"a":1,"b":[true,"x"]},"name":"f"} )"),
              ElementsAre(kCall));
  EXPECT_THAT(format.parse("\n{\"name\": \"f\", \"arguments\": {\"a\":  1e0}}\n"),
              ElementsAre(ToolCall{"", "f", R"({"a":  1e0})"}))
      << "as the model wrote it";
  for (const char* text : {"", "{}", "[]", "{\"name\": \"f\"}", R"({"name": 1, "arguments": {}})",
                           R"({"name": "f", "arguments": 1})", R"({"name": "f", "arguments": {)"})
    EXPECT_THAT(format.parse(text), IsEmpty()) << text;
}

TEST(ToolFormat, Llama3) {
  const ToolFormat format = named("llama3");
  EXPECT_THAT(
      format.parse(
          R"({"name": "f", "parameters": {"a": 1, "b": [true, "x"]}}; {"type": "function", "name": "g", "parameters": {}})"),
      ElementsAre(kCall, kOther));
  for (const char* text :
       {"", "{}", "Hello", R"({"name": "f"})", R"({"name": "g", "parameters": {}} so)"})
    EXPECT_THAT(format.parse(text), IsEmpty()) << text;
}

TEST(ToolFormat, AnArrayOfCallsAfterTheMark) {
  EXPECT_THAT(named("json").parse(
                  R"( [{"name": "f", "arguments": {"a": 1, "b": [true, "x"]}}, {"name": "g",
                       "arguments": {}}])"),
              ElementsAre(kCall, kOther));
  EXPECT_THAT(named("json").parse(R"([{"name": "f", "arguments": {}}, {"name": 1}])"), IsEmpty());
}

TEST(ToolFormat, Mistral) {
  const ToolFormat format = named("mistral");
  EXPECT_THAT(
      format.parse(
          R"( [{"name": "f", "arguments": {"a": 1, "b": [true, "x"]}, "id": "123456789"}, {"name": "g", "arguments": {}}])"),
      ElementsAre(kCall, kOther));
  EXPECT_THAT(format.parse(R"(f[ARGS]{"a": 1, "b": [true, "x"]})"), ElementsAre(kCall));
  EXPECT_THAT(format.parse(R"(f[CALL_ID]123456789[ARGS]{"a": 1, "b": [true, "x"]})"),
              ElementsAre(kCall));
  EXPECT_THAT(format.parse("g{}"), ElementsAre(kOther));
  EXPECT_THAT(format.parse(R"(g{"a": "[ARGS]{"})"),
              ElementsAre(ToolCall{"", "g", R"({"a": "[ARGS]{"})"}));
  for (const char* text : {"", "[", "[{}]", "f", "f[ARGS]", "f[ARGS]3", "{}"})
    EXPECT_THAT(format.parse(text), IsEmpty()) << text;
}

TEST(ToolFormat, Glm) {
  const ToolFormat format = named("glm");
  const nlohmann::ordered_json tools = nlohmann::ordered_json::parse(
      R"([{"function": {"name": "f", "parameters": {"properties": {"path": {"type": "string"}}}}}])");
  EXPECT_THAT(format.parse("f\n<arg_key>path</arg_key>\n<arg_value>7</arg_value>\n"
                           "<arg_key>n</arg_key>\n<arg_value>7</arg_value>\n"
                           "<arg_key>t</arg_key><arg_value>a \"b\"\n</arg_value>\n",
                           tools),
              ElementsAre(ToolCall{"", "f", R"({"path": "7", "n": 7, "t": "a \"b\"\n"})"}));
  EXPECT_THAT(format.parse("g\n"), ElementsAre(kOther));
  EXPECT_THAT(format.parse("g<arg_key>a</arg_key>"), IsEmpty());
  EXPECT_THAT(format.parse(""), IsEmpty());
}

TEST(ToolFormat, DeepSeek) {
  const ToolFormat format = named("deepseek");
  EXPECT_THAT(format.parse("f<｜tool▁sep｜>{\"a\": 1, \"b\": [true, \"x\"]}"), ElementsAre(kCall));
  EXPECT_THAT(format.parse("function<｜tool▁sep｜>g\n```json\n{}\n```"), ElementsAre(kOther));
  const ToolCall quoting{"", "f", R"({"a": "```json\n{}\n```"})"};
  EXPECT_THAT(format.parse("f<｜tool▁sep｜>" + quoting.arguments), ElementsAre(quoting));
  for (const char* end : {"\n```", "\n"})
    EXPECT_THAT(format.parse("function<｜tool▁sep｜>f\n```json\n" + quoting.arguments + end),
                ElementsAre(quoting));
  EXPECT_THAT(format.parse("f{}"), IsEmpty());
  EXPECT_THAT(format.parse("f<｜tool▁sep｜>x"), IsEmpty());
}

TEST(ToolFormat, ReadsWhatItOpens) {
  for (const char* name : {"json", "llama3", "mistral", "glm", "deepseek"}) {
    const ToolFormat format = named(name);
    const bool glm = format.notation == ToolFormat::Notation::kGlm;
    const bool object = format.opening("g").find('{') != std::string::npos;
    const bool array = format.opening("g").find('[') != std::string::npos && object;
    const std::string text =
        format.opening("g") + (glm ? "" : "{}") + (object ? "}" : "") + (array ? "]" : "");
    EXPECT_THAT(format.parse(text), ElementsAre(kOther)) << name;
    EXPECT_TRUE(format.opening("g").starts_with(format.opening({}))) << name;
  }
  EXPECT_THROW((void)named("xml"), std::invalid_argument);
}

}  // namespace
}  // namespace engine::lane
