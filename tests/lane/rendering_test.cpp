#include "lane/rendering.h"

#include <gtest/gtest.h>

namespace engine::lane {
namespace {

GenerationRequest turn(std::vector<model::Message> messages, std::vector<model::Token> prompt) {
  GenerationRequest request;
  request.conversation.messages = std::move(messages);
  request.engine.prompt = std::move(prompt);
  return request;
}

TEST(LastRendering, SaysWhatLeftIt) {
  LastRendering last;
  const model::Message user{"user", "a"}, reply{"assistant", "b"};
  EXPECT_FALSE(last.compare(turn({user}, {1, 2, 3})).has_value()) << "the first";
  const std::vector<model::Token> said{7, 8};
  last.keep(turn({user}, {1, 2, 3}), said);
  EXPECT_FALSE(last.compare(turn({user, reply}, {1, 2, 3, 7, 8, 4})).has_value());
  EXPECT_FALSE(last.compare(turn({user}, {1, 2, 3})).has_value()) << "again";
  EXPECT_FALSE(last.compare(turn({user, reply}, {1, 2, 3, 7, 9})).has_value()) << "another stop";
  const auto departure = [&](const GenerationRequest& now) {
    const auto found = last.compare(now);
    return found ? std::pair(found->token, std::string(found->by))
                 : std::pair(std::size_t{99}, std::string());
  };
  EXPECT_EQ(departure(turn({user, reply}, {1, 9, 3, 7})),
            std::pair(std::size_t{1}, std::string("template")));
  EXPECT_EQ(departure(turn({user, reply}, {1, 2, 3, 9})),
            std::pair(std::size_t{3}, std::string("reply")));
  EXPECT_EQ(departure(turn({reply}, {1, 9})), std::pair(std::size_t{1}, std::string("messages")));
}

}  // namespace
}  // namespace engine::lane
