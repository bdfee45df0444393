// SPDX-License-Identifier: Apache-2.0
// Cost of one tick of a plugin, or of one answer of a runtime hook, with one isolation: time, CPU, system calls,
// allocations, memory. Measured in processes made for it, so that a plugin that crashes or leaks harms nothing else.
// For programs without further threads.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "core/base/clock.hpp"
#include "core/base/result.hpp"
#include "core/workshop/loading.hpp"

namespace koord::workshop {

class RunNode;

struct BenchSettings {
  std::string class_name;  // empty: the first
  std::string config_json = "{}";
  std::uint64_t ticks = 1000;                 // of a hook: answers, about each pod and container in turn
  Duration period = std::chrono::seconds(1);  // that passes on the node between two ticks, without waiting
  std::uint64_t (*allocations)() = nullptr;   // of this process so far, if counted
};

struct BenchResult {
  bool is_hook = false;                // a tick is an answer
  Duration start{};                    // from the file to a plugin that can be ticked
  Duration median{}, p99{};            // of a tick
  double cpu_ns = 0;                   // of a tick, in the plugin's thread
  std::optional<double> system_calls;  // of a tick, on both sides; nullopt: tracing is not allowed here
  std::optional<double> allocations;   // of a tick, when the plugin is in this process
  std::int64_t private_bytes = 0;      // memory of the process that the plugin is in, after the first tick
  std::int64_t growth_bytes = 0;       // of it, in all ticks after that
};

// `make_node` is called in each process that measures. The error describes the failure of the plugin.
Result<BenchResult> bench(const OpenedPlugin& piece, const Loading& loading,
                          const std::function<Result<std::unique_ptr<RunNode>>()>& make_node,
                          const BenchSettings& settings);

}  // namespace koord::workshop
