// SPDX-License-Identifier: Apache-2.0
// The state of the client and its counters, for metrics and operators. [loop thread]
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/latency.hpp"
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
