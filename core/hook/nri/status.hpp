// SPDX-License-Identifier: Apache-2.0
// The state of the client and its counters, for metrics and operators. [loop thread]
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/clock.hpp"
#include "core/hook/nri/stage.hpp"
#include "core/hook/nri/types.hpp"

namespace koord::nri {

enum class ConnectionState : std::uint8_t {
  stopped,
  waiting,      // for the socket, or for the next attempt
  registering,  // connected; the runtime has not sent its pods yet
  active,
};
std::string_view to_string(ConnectionState state);

// A histogram of durations with fixed bounds.
class Latency {
 public:
  // Upper bounds in seconds; what is longer is in one bucket more.
  static constexpr std::array<double, 13> kBounds = {0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01,
                                                     0.025,  0.05,    0.1,    0.2,   0.5,    1};

  void add(Duration duration);

  std::uint64_t count() const { return count_; }
  double sum_seconds() const { return sum_seconds_; }
  // Durations within bound `i`, those of lower bounds included.
  std::uint64_t cumulative(std::size_t i) const;
  // The lowest bound that this share of the durations stays within; the highest bound if none is enough. Zero without
  // durations.
  double quantile(double share) const;

 private:
  std::array<std::uint64_t, kBounds.size() + 1> buckets_{};
  std::uint64_t count_ = 0;
  double sum_seconds_ = 0;
};

struct StageCounters {
  std::uint64_t calls = 0;
  std::uint64_t refused = 0;    // answered with a Refusal
  std::uint64_t timed_out = 0;  // answered "no change" at the deadline
  std::uint64_t late = 0;       // answers that came after that
  std::uint64_t invalid = 0;    // answers that cannot be encoded; the runtime gets "no change"
  Latency latency = {};         // from the request to the answer
};

struct Status {
  ConnectionState state = ConnectionState::stopped;
  Runtime runtime = {};              // of the last connection
  std::uint64_t connections = 0;     // that the runtime accepted and synchronized
  std::uint64_t attempts = 0;        // to connect
  std::string last_error = {};       // why the last attempt, request or connection failed
  std::uint64_t bad_requests = 0;    // of the runtime: unreadable, too large, with a wrong call id
  std::uint64_t unimplemented = 0;   // calls of methods that the client does not have
  std::uint64_t updates_sent = 0;    // containers of update_containers()
  std::uint64_t updates_failed = 0;  // of these, as the runtime answered
  std::array<StageCounters, kStages> stages = {};

  StageCounters& of(Stage stage) { return stages[static_cast<std::size_t>(stage)]; }
  const StageCounters& of(Stage stage) const { return stages[static_cast<std::size_t>(stage)]; }
  std::uint64_t reconnects() const { return connections > 0 ? connections - 1 : 0; }
};

}  // namespace koord::nri
