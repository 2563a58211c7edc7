// What came of a request.
#pragma once

#include <optional>
#include <string_view>

#include "lane/rendering.h"
#include "lane/reply_reader.h"
#include "runtime/stats.h"

namespace engine::lane {

enum class Finish { kStop, kLength, kToolCalls, kCancelled };  // cancelled: the client went

// OpenAI's word, and "cancelled".
constexpr std::string_view word_of(Finish finish) {
  switch (finish) {
    case Finish::kStop:
      return "stop";
    case Finish::kLength:
      return "length";
    case Finish::kToolCalls:
      return "tool_calls";
    case Finish::kCancelled:
      break;
  }
  return "cancelled";
}

// How long one request took, in seconds from its arrival; negative where it did not come so far.
struct RequestTimes {
  double started = -1;  // its turn on the lane
  double first_token = -1;
  double finished = 0;
};

struct Outcome {
  ReplyDelta reply{};  // all deltas joined
  Finish finish = Finish::kStop;
  runtime::Stats stats{};
  std::size_t completion_tokens = 0;  // up to a stop text
  std::size_t reasoning_tokens = 0;   // of these
  std::optional<Departure> departure{};
  // Leading rows that could have been kept but for the grid; nothing without the cache.
  std::optional<std::size_t> keepable{};
  RequestTimes times{};
};

}  // namespace engine::lane
