// The requests of /v1/responses: a chat in other words.
#pragma once

#include "lane/request.h"

namespace engine::lane {

// Throws ApiError, which names the field as this endpoint calls it. Nothing is stored, so what
// refers to an earlier response is refused.
GenerationRequest read_response(const JsonField& body, const Served& served);

}  // namespace engine::lane
