#include "lane/slots.h"

#include <charconv>

namespace engine::lane {
namespace {

using nlohmann::ordered_json;
using runtime::SlotReport;

std::size_t number_of(std::string_view slot, const Service& service) {
  std::size_t id = 0;
  const auto [end, error] = std::from_chars(slot.data(), slot.data() + slot.size(), id);
  bool known = error == std::errc() && end == slot.data() + slot.size() && id == 0;
  for (const runtime::ParkedStore::Info& parked : service.parked())
    known = known || (error == std::errc() && parked.id == id);
  if (!known) throw ApiError(404, "there is no slot " + std::string(slot), "id_slot", "not_found");
  return id;
}

std::string file_name(const JsonField& body, bool wanted) {
  body.require_object();
  if (!wanted) {
    body.allow_only({});
    return {};
  }
  body.allow_only({"filename"});
  return body.at("filename").string();
}

}  // namespace

ordered_json slots_json(const Service& service) {
  const ordered_json state = service.state_json();
  const ordered_json& conversations = state["conversations"];
  const ordered_json latest = conversations.empty() ? ordered_json::object() : conversations[0];
  const std::size_t rows = latest.value("kept", std::size_t{0});
  ordered_json slots = ordered_json::array();
  slots.push_back({{"id", 0},
                   {"n_ctx", service.served().context},
                   {"is_processing", !state["running"].is_null()},
                   {"n_tokens", rows == 0 ? 0 : latest.value("tokens", std::size_t{0})},
                   {"n_rows", rows}});
  for (const ordered_json& parked : state["parked"])
    slots.push_back(parked);
  return slots;
}

ordered_json act_on_slot(Service& service, std::string_view slot, std::string_view action,
                         std::string_view body, const std::function<bool()>& gone) {
  const bool saves = action == "save", restores = action == "restore";
  if (!saves && !restores && action != "erase")
    throw ApiError(400, "action must be save, restore or erase", "action");
  const ordered_json json = body.empty() ? ordered_json::object() : parse_body(body);
  const std::string name = file_name(JsonField(json), saves || restores);
  const RequestQueue::Turn turn = service.enter(gone);
  const std::size_t id = number_of(slot, service);
  if (restores && id != 0)
    throw ApiError(400, "only slot 0, the lane's buffer, can be restored into", "id_slot");
  try {
    if (saves) {
      const SlotReport done = service.save_slot(id, name);
      return {{"id_slot", id},
              {"filename", name},
              {"n_saved", done.rows},
              {"n_written", done.bytes},
              {"timings", {{"save_ms", done.seconds * 1e3}}}};
    }
    if (restores) {
      const SlotReport done = service.restore_slot(name);
      return {{"id_slot", id},
              {"filename", name},
              {"n_restored", done.rows},
              {"n_read", done.bytes},
              {"timings", {{"restore_ms", done.seconds * 1e3}}}};
    }
    return {{"id_slot", id}, {"n_erased", service.erase_slot(id).rows}};
  } catch (const runtime::RequestError& error) {
    throw ApiError(400, error.what());
  } catch (const runtime::DiskError& error) {
    throw ApiError(saves ? 500 : 400, error.what(), "filename", "disk_failed");
  } catch (const kernels::BackendError& error) {
    throw ApiError(500, error.what(), "", "backend_failed");
  }
}

}  // namespace engine::lane
