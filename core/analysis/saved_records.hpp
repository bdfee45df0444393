// SPDX-License-Identifier: Apache-2.0
// Values of workloads as text, one record of core/base/record.hpp for each. Used by baseline_record, cache_record and
// latency_record.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/analysis/saved_limits.hpp"
#include "core/base/record.hpp"
#include "core/base/result.hpp"

namespace koord::analysis {

// A record with a larger weight or more windows is damaged or hostile. Even with the longest half-life, the weight of
// one window each 100 ms stays below kMostWeight.
inline constexpr double kMostWeight = 1e8;
inline constexpr std::size_t kMostWindows = 1'000'000'000'000;

// Writes the most recently seen values first, as many as fit into `max_bytes`. Omits a workload if its name cannot be a
// field. The type Saved must have the members `workload` and `seen`.
template <class Saved, class LineOf>
std::string write_newest(std::vector<Saved> all, std::size_t max_bytes, LineOf line_of) {
  std::stable_sort(all.begin(), all.end(), [](const Saved& a, const Saved& b) { return a.seen > b.seen; });
  std::string text;
  for (const Saved& saved : all) {
    if (!can_be_a_field(saved.workload)) continue;
    const std::string line = line_of(saved);
    if (text.size() + line.size() > max_bytes) break;
    text += line;
  }
  return text;
}

inline Result<double> amount_up_to(FieldReader& fields, double largest, const char* what) {
  const double amount = TRY(fields.amount());
  if (amount > largest) return invalid(std::string(what) + " is larger than it can be");
  return amount;
}

// Reads each record with read_one(). Returns the problems with omitted records, and sets `unread` to their lines, as
// many as fit into kMaxUnreadBytes.
template <class Saved, class ReadOne>
std::vector<std::string> read_each(std::string_view text, std::vector<Saved>& all, std::string& unread,
                                   ReadOne read_one) {
  return read_records(text, [&](std::string_view line) -> Result<void> {
    auto saved = read_one(line);
    if (!saved && unread.size() + line.size() < kMaxUnreadBytes) unread.append(line) += '\n';
    all.push_back(TRY(std::move(saved)));
    return {};
  });
}

}  // namespace koord::analysis
