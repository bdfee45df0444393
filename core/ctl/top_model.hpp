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
  std::string pod = {};           // as the agent's API takes it; empty: outside of pods
};

struct TopView {
  std::string node;
  double wall_time = 0;  // Unix seconds
  std::size_t online_cpus = 0;
  std::optional<double> memory_total_bytes;
  Usage node_usage;
  std::vector<TopRow> rows;
  std::size_t idle_rows = 0, further_rows = 0;  // that shorten() left out
};

enum class TopOrder { harm, cpu, memory, latency, throttled, stalled, name };

Result<TopOrder> parse_top_order(std::string_view name);
std::string_view name_of(TopOrder order);  // "harm"

// Whether idle rows are left out in this order: sorted by memory or name they are of interest, too.
bool folds_idle_rows(TopOrder order);

// From the answers of /api/v1/node, /api/v1/pods and /api/v1/interference. `verdicts`: empty of an agent that has none.
Result<TopView> parse_top(const std::string& node, const std::string& pods, const std::string& verdicts = {});

// Returns how much a row is held up: 2 and more with a verdict about other containers, 1 and more with one about
// itself. The fraction is the largest of throttled, stalled, and the p95 wait as a share of 100 ms. nullopt: nothing is
// known.
std::optional<double> harm_of(const TopRow& row);

// Whether a row is known to use less than 0.01 cores and is not held up: no verdict, not throttled, not stalled, waits
// below 1 ms.
bool is_idle(const TopRow& row);

// The largest first, what is not known last; by name where equal.
void sort_rows(std::vector<TopRow>& rows, TopOrder order);

// Leaves out idle rows, and of the others all behind the first `limit`; 0: none.
void shorten(TopView& view, bool without_idle, std::size_t limit);

// The lines about the node, and the table of rows with its titles.
std::string top_header(const TopView& view);
std::string top_table(const TopView& view, std::size_t max_width);

// Header lines and table, as plain text of at most `max_width` columns and `max_lines` lines; 0 = no limit.
std::string render_top(const TopView& view, std::size_t max_width, std::size_t max_lines);

}  // namespace koord::ctl
