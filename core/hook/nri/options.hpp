// SPDX-License-Identifier: Apache-2.0
// The options of the client.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "core/base/clock.hpp"
#include "core/base/result.hpp"
#include "core/hook/nri/stage.hpp"
#include "core/hook/nri/wire.hpp"

namespace koord::nri {

struct Options {
  std::string socket_path = "/var/run/nri/nri.sock";
  std::string plugin_name = "koordetector";
  std::string plugin_index = "50";  // plugins are called in the order of their indices
  EventMask events = kAllEvents;    // those that the runtime does not have are left out
  KeepAnnotation keep_annotation = nullptr;

  // The runtime gets "no change" if the handler has not answered by then. Below the runtime's own limit (2 s), at which
  // it drops the plugin.
  Duration deadline = std::chrono::milliseconds(200);
  Duration synchronize_deadline = std::chrono::seconds(1);
  Duration call_timeout = std::chrono::seconds(5);  // for calls to the runtime
  // From the connection to the last part of Synchronize. The runtime accepts one plugin after the other.
  Duration registration_timeout = std::chrono::seconds(30);

  Duration first_retry = std::chrono::milliseconds(100);
  Duration longest_retry = std::chrono::seconds(5);
  std::uint64_t seed = 1;  // of the jitter: random_seed() of core/base/backoff.hpp
};

// Fails for values that a runtime would refuse.
Result<void> check(const Options& options);

}  // namespace koord::nri
