// SPDX-License-Identifier: Apache-2.0
// The content of `koordctl top`, from the agent's responses. No terminal, no network.
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
  std::optional<double> throttled;                              // throttled share of the periods of its quota
  std::optional<double> stalled;                                // average number of threads stalled by memory reclaim
};

struct TopRow {
  std::string kind;  // "pod", "container", "service", "cgroup"
  std::string name;  // "namespace/pod", "namespace/pod/container", or a name outside of pods
  std::string qos;
  Usage usage;
  std::string interference = {};  // the first standing verdict: "cpu 4.2%"; empty: none
  std::string pod = {};           // the pod in requests to the agent; empty: outside of pods
};

struct TopView {
  std::string node;
  double wall_time = 0;  // Unix seconds
  std::size_t online_cpus = 0;
  std::optional<double> memory_total_bytes;
  Usage node_usage;
  std::vector<TopRow> rows;
  std::size_t idle_rows = 0, further_rows = 0;  // rows removed by shorten()
};

enum class TopOrder { harm, cpu, memory, latency, throttled, stalled, name };

Result<TopOrder> parse_top_order(std::string_view name);
std::string_view name_of(TopOrder order);  // "harm"

// Returns whether this order hides idle rows. Orders by memory or name show them.
bool folds_idle_rows(TopOrder order);

// Parses the responses of /api/v1/node, /api/v1/pods and /api/v1/interference. `verdicts`: empty if the agent has none.
Result<TopView> parse_top(const std::string& node, const std::string& pods, const std::string& verdicts = {});

// Returns how much a row is held up: 2 or more with a verdict about other containers, 1 or more with a verdict about
// itself. The fraction is the largest of throttled, stalled, and the p95 wait as a share of 100 ms. nullopt: all values
// are unknown.
std::optional<double> harm_of(const TopRow& row);

// Returns whether a row is known to use less than 0.01 cores and is not held up: no verdict, not throttled, not
// stalled, waits below 1 ms.
bool is_idle(const TopRow& row);

// Sorts the largest value first, unknown values last, and equal values by name.
void sort_rows(std::vector<TopRow>& rows, TopOrder order);

// Removes idle rows, and all rows after the first `limit`; 0: no limit.
void shorten(TopView& view, bool without_idle, std::size_t limit);

// Return the lines about the node, and the table of rows with its titles.
std::string top_header(const TopView& view);
std::string top_table(const TopView& view, std::size_t max_width);

// Returns header lines and table as plain text of at most `max_width` columns and `max_lines` lines; 0 = no limit.
std::string render_top(const TopView& view, std::size_t max_width, std::size_t max_lines);

}  // namespace koord::ctl
