// What /metrics shows, in Prometheus' text format.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "lane/outcome.h"

namespace engine::lane {

// Any thread may call it.
class Metrics {
 public:
  Metrics();
  ~Metrics();

  // `outcome`: a finish reason, "cancelled", or an error's HTTP status.
  void count_request(std::string_view endpoint, std::string_view outcome);
  void observe(const runtime::Stats& stats, const RequestTimes& times);
  void observe_token_gap(double seconds);
  void set_waiting(std::size_t requests);
  void set_running(std::size_t requests);

  std::string text() const;

 private:
  struct Families;
  std::unique_ptr<Families> families_;
};

}  // namespace engine::lane
