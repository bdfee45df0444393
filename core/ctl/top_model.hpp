// SPDX-License-Identifier: Apache-2.0
// Content of `koordctl top`, out of the agent's answers. No terminal, no network.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"

namespace koord::ctl {

struct Usage {
  std::optional<double> cpu_cores;
  std::optional<double> memory_bytes;
  std::optional<double> latency_p50, latency_p95, latency_p99;  // from runnable to running, in seconds
  std::optional<double> throttled;  // share of its quota's periods in which it was held back
  std::optional<double> stalled;    // threads held up by reclaim of memory, on average
};

struct TopRow {
  std::string kind;  // "pod", "container", "service", "cgroup"
  std::string name;  // "namespace/pod", "namespace/pod/container", or the name of what is outside pods
  std::string qos;
  Usage usage;
  std::string interference = {};  // "cpu 4.2%", the first verdict that stands; empty: none
};

struct TopView {
  std::string node;
  double wall_time = 0;  // Unix seconds
  std::size_t online_cpus = 0;
  std::optional<double> memory_total_bytes;
  Usage node_usage;
  std::vector<TopRow> rows;
};

enum class TopOrder { cpu, memory, latency, throttled, stalled, name };

Result<TopOrder> parse_top_order(std::string_view name);

// From the answers of /api/v1/node, /api/v1/pods and /api/v1/interference. `verdicts`: empty of an agent that has none.
Result<TopView> parse_top(const std::string& node, const std::string& pods, const std::string& verdicts = {});

// The largest first, what is not known last; by name where equal.
void sort_rows(std::vector<TopRow>& rows, TopOrder order);

// Header lines and table, as plain text of at most `max_width` columns and `max_lines` lines; 0 = no limit.
std::string render_top(const TopView& view, std::size_t max_width, std::size_t max_lines);

}  // namespace koord::ctl
