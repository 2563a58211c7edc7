// The endpoints that need the model but not the lane: they run beside a generation.
#pragma once

#include "lane/json_field.h"
#include "lane/request.h"

namespace engine::lane {

// POST /tokenize: {"content": TEXT}, {"prompt": TEXT or ids} or {"messages": [...], "tools": [...]}
// to {"tokens", "count", "max_model_len"}. Throws ApiError 400.
nlohmann::ordered_json tokenize(const JsonField& body, const Served& served);

// POST /detokenize: {"tokens": [...]} to {"content"}. Throws ApiError 400.
nlohmann::ordered_json detokenize(const JsonField& body, const Served& served);

// GET /v1/models.
nlohmann::ordered_json list_models(const Served& served);

// GET /v1/models/NAME. Throws ApiError 404 for another name.
nlohmann::ordered_json show_model(std::string_view name, const Served& served);

}  // namespace engine::lane
