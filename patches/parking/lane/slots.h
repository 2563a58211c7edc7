// Parked conversations for programs, in the words of llama.cpp's server: the lane has one slot, 0,
// which is the buffer; each further one is a parked conversation.
#pragma once

#include <functional>
#include <string_view>

#include "lane/service.h"

namespace engine::lane {

// GET /slots: [{"id": 0, "n_ctx", "is_processing", "n_tokens", "n_rows"},
//              {"id", "n_rows", "ram_bytes", "disk_bytes"}, ...], the latest parked first.
nlohmann::ordered_json slots_json(const Service& service);

// POST /slots/ID?action=ACTION, `body` is empty or JSON. Waits for the lane.
//   save {"filename"}      {"id_slot", "filename", "n_saved", "n_written", "timings": {"save_ms"}}
//   restore {"filename"}   {"id_slot", "filename", "n_restored", "n_read", "timings": ...}; slot 0
//   erase                  {"id_slot", "n_erased"}
// Throws ApiError: 501 without parking, 404 where there is no such slot, 400 for what else is wrong
// with the request or a file that is asked for, 500 where a file cannot be written; and what
// Service::enter throws.
nlohmann::ordered_json act_on_slot(Service& service, std::string_view slot, std::string_view action,
                                   std::string_view body, const std::function<bool()>& gone);

}  // namespace engine::lane
