// SPDX-License-Identifier: Apache-2.0
// CallRecord: the results of an instance's calls, and the running call. [guarded by the instance]
#pragma once

#include <chrono>
#include <string>

#include "core/host/plugin_status.hpp"
#include "core/host/runner.hpp"

namespace koord::host {

class CallRecord {
 public:
  void began(const char* call);
  void ended(const char* call, const service::CallResult& result);
  // A call that is not on the strand: run(), handle().
  void count(const char* call, const service::CallResult& result);

  // CPU time that was spent for it outside of its calls.
  void charge(Duration cpu) { counts_.cpu += cpu; }
  void missed_deadline() { ++counts_.deadline_misses; }
  void skipped_tick() { ++counts_.skipped_ticks; }
  // A tick took so long; true when it was one deadline too many in a row.
  bool ticked(Duration took, Duration deadline);
  // Another session: the missed ticks of the one before do not count.
  void reset_misses() {
    misses_in_a_row_ = 0;
    lost_ = false;
  }

  // The call in flight, or the last one's name.
  const char* call() const { return call_; }
  void fill(InstanceStatus& status) const;

 private:
  static constexpr unsigned kMaxMissesInARow = 3;

  CallCounts counts_;
  std::string last_error_;
  Duration last_duration_{};
  unsigned misses_in_a_row_ = 0;
  bool lost_ = false;  // the process, in the last call that failed
  const char* call_ = "";
  bool in_flight_ = false;
  std::chrono::steady_clock::time_point since_;
};

}  // namespace koord::host
