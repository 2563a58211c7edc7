#include "lane/json_field.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "lane/served_model.h"

namespace engine::lane {
namespace {

using nlohmann::ordered_json;
using testing::fault_of;
using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(ParseBody, RefusesWhatIsNotJson) {
  for (const std::string& text :
       {std::string(), std::string("{"), std::string("nul"), std::string("{\"a\":1}x"),
        std::string("\"\xff\""), std::string("{\"a\":1e999}"), std::string("\0", 1)}) {
    EXPECT_THAT(fault_of([&] { (void)parse_body(text); }), StartsWith("400 : the body is not JSON"))
        << text;
  }
}

TEST(ParseBody, LimitsTheDepth) {
  const auto nested = [](std::size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
  };
  EXPECT_NO_THROW((void)parse_body(nested(64)));
  EXPECT_THAT(fault_of([&] { (void)parse_body(nested(66)); }), HasSubstr("deeper than 64"));
  EXPECT_THAT(fault_of([&] { (void)parse_body(std::string(1000000, '[')); }), HasSubstr("deeper"));
}

TEST(ParseBody, LimitsTheMembersOfAnObject) {
  const auto object = [](std::size_t members) {
    std::string text;
    for (std::size_t i = 0; i < members; ++i)
      text += (i == 0 ? "{\"" : ",\"") + std::to_string(i) + "\":{}";
    return text + "}";
  };
  EXPECT_EQ(parse_body(object(1024)).size(), 1024u);
  EXPECT_THAT(fault_of([&] { (void)parse_body(object(1025)); }), HasSubstr("more than 1024"));
  // Counted for each object, whatever it holds and whatever stands beside it.
  EXPECT_NO_THROW((void)parse_body("[" + object(1000) + "," + object(1000) + "]"));
  EXPECT_THAT(fault_of([&] { (void)parse_body("{\"a\":{\"b\":" + object(1025) + "}}"); }),
              HasSubstr("more than 1024"));
}

TEST(JsonField, NamesThePlaceOfAFault) {
  const ordered_json json = parse_body(R"({"a": [{"b": 1}, {"b": true}], "c": null})");
  const JsonField body(json);
  EXPECT_FALSE(body.find("c").has_value());
  EXPECT_FALSE(body.find("d").has_value());
  EXPECT_EQ(fault_of([&] { (void)body.at("d"); }), "400 d: \"d\" is missing");
  EXPECT_EQ(fault_of([&] { (void)body.at("a").elements()[1].at("b").string(); }),
            "400 a[1].b: a[1].b: expected a string, found true");
  EXPECT_EQ(fault_of([&] { (void)body.at("a").string(); }),
            "400 a: a: expected a string, found an array");
}

TEST(JsonField, IntegersAreNeverRoundedOrWrapped) {
  for (const char* text : {"1.5", "1e30", "-1", "101", "18446744073709551615",
                           "99999999999999999999999", "\"7\"", "true", "[]"}) {
    const ordered_json json = parse_body(text);
    EXPECT_THAT(fault_of([&] { (void)JsonField(json, "n").integer(0, 100); }),
                HasSubstr("expected an integer from 0 to 100"))
        << text;
  }
  const ordered_json seven = parse_body("7");
  EXPECT_EQ(JsonField(seven).integer(0, 100), 7);
}

TEST(ToText, IsValidUtf8WhateverTheBytes) {
  EXPECT_EQ(to_text(ordered_json("a\xff\xc3")), "\"a\xEF\xBF\xBD\xEF\xBF\xBD\"");
}

TEST(ApiErrorBody, HasEveryFieldOfOpenAis) {
  EXPECT_EQ(to_text(ApiError(400, "no", "n").body()),
            R"({"error":{"message":"no","type":"invalid_request_error","param":"n","code":null}})");
  EXPECT_EQ(ApiError(429, "x").body()["error"]["type"], "rate_limit_error");
  EXPECT_EQ(ApiError(401, "x").body()["error"]["type"], "authentication_error");
  EXPECT_EQ(ApiError(503, "x").body()["error"]["type"], "server_error");
}

}  // namespace
}  // namespace engine::lane
