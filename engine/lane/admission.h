// What a request must be before its body is read, and what httplib reads otherwise than it should.
#pragma once

#include <httplib.h>

#include <string_view>

#include "lane/server.h"

namespace engine::lane {

// Of a path, for metrics and the log; few, whatever clients ask for.
std::string_view label_of_path(std::string_view path);

// Mends what httplib has read of a head.
void read_rightly(httplib::Request& request);

// Throws ApiError for a key, a method, a path or a length that is wrong.
void admit(const httplib::Request& request, const ServerOptions& options);

ApiError too_long(const ServerOptions& options);

// What httplib found wrong by itself.
ApiError error_of_status(int status, const httplib::Request& request);

}  // namespace engine::lane
