// How an endpoint shows replies: as one object, or as the events of a stream.
#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string>

#include "lane/api_error.h"
#include "lane/outcome.h"

namespace engine::lane {

// Of one request. A stream is the texts of `begin`, `add`..., `end` for each choice, and `close`.
class ReplyWriter {
 public:
  virtual ~ReplyWriter() = default;

  virtual std::string begin(std::size_t choice) = 0;
  virtual std::string add(const ReplyDelta& delta) = 0;
  virtual std::string end(const Outcome& outcome) = 0;
  virtual std::string close(std::span<const Outcome> choices) = 0;
  // Where a stream breaks off.
  virtual std::string fail(const ApiError& error) = 0;

  virtual nlohmann::ordered_json whole(std::span<const Outcome> choices) = 0;
};

}  // namespace engine::lane
