// SPDX-License-Identifier: Apache-2.0
// LiveSeries: the series of things that appear and disappear (disks, NUMA nodes, ports). A series is created when its
// thing is first seen, and ended after a round in which the thing is missing. Header-only, on the instance's strand.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "koordetector/plugin.hpp"

namespace koord::node {

class LiveSeries {
 public:
  LiveSeries() = default;
  explicit LiveSeries(const koord_host* host)
      : host_(host), metrics_(plugin::require<koord_svc_metrics>(host, "koord.metrics/1")) {}

  // Returns the series of `key`. If it does not exist, make() creates it.
  template <class Make>
  std::uint64_t of(const std::string& key, Make&& make) {
    auto entry = entries_.find(key);
    if (entry == entries_.end()) entry = entries_.emplace(key, Entry{make(), 0}).first;
    entry->second.round = round_;
    return entry->second.series;
  }

  // Keeps the series in this round without a value.
  void keep(const std::string& key) {
    if (auto entry = entries_.find(key); entry != entries_.end()) entry->second.round = round_;
  }

  // Ends the series that neither of() nor keep() named since the last call.
  void end_others() {
    for (auto entry = entries_.begin(); entry != entries_.end();) {
      if (entry->second.round == round_) {
        ++entry;
        continue;
      }
      metrics_->end_series(host_, entry->second.series);
      entry = entries_.erase(entry);
    }
    ++round_;
  }

  std::size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    std::uint64_t series, round;
  };

  const koord_host* host_ = nullptr;
  const koord_svc_metrics* metrics_ = nullptr;
  std::map<std::string, Entry> entries_;
  std::uint64_t round_ = 1;
};

}  // namespace koord::node
