// Whether a turn's rendering begins with the turn's before it. A prefix cache keeps what does; a
// template may break it (Qwen3 drops earlier thoughts), and so may a client that edits its history.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "lane/request.h"

namespace engine::lane {

// Where a prompt leaves the prompt and reply before it, and what made it so: "messages", which do
// not go on from those before; "template", which renders the same messages differently now; or
// "reply", which is not rendered as the model wrote it.
struct Departure {
  std::size_t token = 0;
  std::string_view by;
};

class LastRendering {
 public:
  // Nothing if the prompt only goes on from the last one, or is the first.
  std::optional<Departure> compare(const GenerationRequest& request) const;

  void keep(const GenerationRequest& request, std::span<const model::Token> reply);

 private:
  model::Conversation conversation_;
  std::vector<model::Token> tokens_;  // the prompt and what was replied
  std::size_t prompt_ = 0;            // the prompt's
};

}  // namespace engine::lane
