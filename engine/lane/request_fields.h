// Which fields a request may have. Nothing is taken and ignored: a field that is neither read nor
// known to change nothing is refused by its name. The table is in README.md beside this file.
#pragma once

#include "lane/endpoint.h"
#include "lane/json_field.h"

namespace engine::lane {

// Throws ApiError 400 that names the first field, null ones aside, that cannot be honoured.
void check_fields(const JsonField& body, Endpoint endpoint);

}  // namespace engine::lane
