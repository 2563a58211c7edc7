#include "proof/conversation_run.h"

namespace engine::runtime::testing {

Request request_for(const Turn& turn, std::vector<Token> prompt) {
  Request request = request_of(std::move(prompt), turn.max_tokens, turn.draft_tokens);
  if (turn.sampled) {
    request.params.sampling = {.temperature = 0.9f, .top_k = 0, .top_p = 0.95f, .seed = turn.seed};
  }
  for (Token token = 0; turn.stops && token < 320; token += 5)
    request.params.stop_tokens.push_back(token);
  return request;
}

std::optional<Failure> run_conversation(ProofModel& model, const Conversation& conversation,
                                        const Checks& checks, Coverage& coverage) {
  ComparedLane lane(model, conversation.lane, checks);
  std::optional<Failure> failure;
  for (std::size_t i = 0; !failure && i < conversation.turns.size(); ++i) {
    const Turn& turn = conversation.turns[i];
    const std::vector<Token> prompt =
        next_prompt(turn, lane.prompt(), lane.text(), conversation.lane.longest_prompt);
    if (auto reason = lane.take(request_for(turn, prompt), turn.ending, turn.draw))
      failure = Failure{i, *reason};
  }
  coverage += lane.coverage();
  return failure;
}

}  // namespace engine::runtime::testing
