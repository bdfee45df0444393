// SPDX-License-Identifier: Apache-2.0
// SQL over the file of a metric cache, for `koordctl sql` and for people. Opens the file read-only, so it works
// while the host writes and when it is down. Besides SQLite's own there are two tables:
//   samples(time, metric, node, pod_namespace, pod_name, pod_uid, container_name, container_id, labels, value)
//   series(metric, unit, resolution, node, pod_namespace, …, container_id, labels, ended)
// `time` and `ended` are seconds since the Unix epoch in host time; `labels` holds all labels as a JSON object.
// Conditions on metric and time are used to skip chunks. [any thread]
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include "core/base/clock.hpp"
#include "core/base/result.hpp"

namespace koord::store {

struct SqlLimits {
  std::size_t max_rows = 10'000;
  Duration timeout = std::chrono::seconds(30);
};

struct SqlResult {
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;  // values as text, NULL as ""
  bool truncated = false;                      // there were more rows than max_rows
};

// Runs one statement. Anything but SELECT and reading PRAGMAs is refused, whatever the file's permissions.
Result<SqlResult> run_sql(const std::string& path, const std::string& statement, const SqlLimits& limits = {});

}  // namespace koord::store
