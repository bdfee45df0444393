// SPDX-License-Identifier: Apache-2.0
// The endpoints of an external advisor and their series, collected and checked with each call: the tables that
// targets() and map_series() get. The same in the agent and in a child. [one thread]
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/clock.hpp"
#include "core/base/result.hpp"
#include "koordetector/plugin.h"

namespace koord::scrape {

// One endpoint. Empty and zero: the host's choice.
struct ScrapeTarget {
  std::string name;  // empty: the only one, of url()
  std::string url;
  std::string ca_file = {}, certificate_file = {}, key_file = {}, server_name = {}, token_file = {};
  Duration period{}, timeout{};
  std::uint64_t max_body_bytes = 0, max_samples = 0, max_series = 0;

  // It names a file that the host is to open.
  bool reads_files() const;
  std::size_t bytes() const;  // in memory
  bool operator==(const ScrapeTarget&) const = default;
};

inline constexpr std::size_t kMaxTargets = 256;
inline constexpr std::string_view kFileScheme = "file:";

// Whether the host knows how to get there; "file:/…" is the host's own addition to the schemes of http::Location.
Result<void> check_scrape_url(std::string_view url);

class TargetList {
 public:
  // `host`: receives errors; may be null.
  explicit TargetList(const koord_host* host);
  TargetList(const TargetList&) = delete;
  TargetList& operator=(const TargetList&) = delete;

  const koord_scrape_targets* table() const { return &table_; }
  std::vector<ScrapeTarget> take() { return std::move(targets_); }

 private:
  koord_status add(const koord_scrape_target* target);

  const koord_host* const host_;
  const koord_scrape_targets table_;
  std::vector<ScrapeTarget> targets_;
};

// The changes of one series.
struct SeriesChange {
  std::uint64_t subject = KOORD_NO_SUBJECT;
  std::vector<std::pair<std::string, std::string>> labels;  // another value; empty: none
};

class SeriesMap {
 public:
  explicit SeriesMap(const koord_host* host);
  SeriesMap(const SeriesMap&) = delete;
  SeriesMap& operator=(const SeriesMap&) = delete;

  const koord_series_map* table() const { return &table_; }
  SeriesChange take() { return std::exchange(change_, {}); }

 private:
  koord_status label(koord_str name, koord_str value);

  const koord_host* const host_;
  const koord_series_map table_;
  SeriesChange change_;
};

}  // namespace koord::scrape
