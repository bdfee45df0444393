// SPDX-License-Identifier: Apache-2.0
#include "core/host/call_record.hpp"

#include <utility>

namespace koord::host {

void CallRecord::began(const char* call) {
  call_ = call;
  in_flight_ = true;
  since_ = std::chrono::steady_clock::now();
}

void CallRecord::ended(const char* call, const service::CallResult& result) {
  in_flight_ = false;
  count(call, result);
}

void CallRecord::count(const char* call, const service::CallResult& result) {
  ++counts_.calls;
  counts_.wall += result.wall;
  counts_.cpu += result.cpu;
  if (result.ok()) return;
  ++counts_.errors;
  // Keeps the error of the call that lost the process. Later calls only report that the process is lost.
  if (std::exchange(lost_, result.lost) && result.lost) return;
  last_error_ = std::string(call) + "(): " + describe(result);
}

bool CallRecord::ticked(Duration took, Duration deadline) {
  last_duration_ = took;
  if (took <= deadline) {
    misses_in_a_row_ = 0;
    return false;
  }
  ++counts_.deadline_misses;
  return ++misses_in_a_row_ >= kMaxMissesInARow;
}

void CallRecord::fill(InstanceStatus& status) const {
  status.counts = counts_;
  status.last_error = last_error_;
  status.last_duration = last_duration_;
  if (!in_flight_) return;
  status.call = call_;
  status.call_time = std::chrono::steady_clock::now() - since_;
}

}  // namespace koord::host
