// SPDX-License-Identifier: Apache-2.0
// The metrics of one level (node, pod or container), and the series of one namespace.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "koordetector/plugin.hpp"
#include "plugins/advisor-network/network.hpp"

namespace koord::network {

struct LevelMetrics {
  LevelMetrics() = default;
  // `level`: "pod"; `owner`: "a pod", for help texts.
  LevelMetrics(const koord_host* host, std::string_view level, std::string_view owner);

  struct Direction {
    plugin::Metric bytes, packets, errors, drops;
  };
  Direction received, sent;
  plugin::Metric segments_sent, retransmits, listen_drops;
};

class NetworkSeries {
 public:
  NetworkSeries(const LevelMetrics& metrics, std::uint64_t subject) : metrics_(&metrics), subject_(subject) {}

  // `interface`: value of the label; empty: a sum over interfaces, without the label.
  void add(const std::string& interface, const Interface& traffic, plugin::Batch& batch);
  void add(const Tcp& tcp, plugin::Batch& batch);

 private:
  struct OfDirection {
    std::uint64_t bytes, packets, errors, drops;
  };
  struct OfInterface {
    OfDirection received, sent;
  };
  OfDirection make(const LevelMetrics::Direction& metrics, const std::string& interface) const;
  void add(std::optional<std::uint64_t> value, const plugin::Metric& metric, std::uint64_t& series,
           plugin::Batch& batch) const;

  const LevelMetrics* metrics_;  // must outlive the series
  std::uint64_t subject_;
  std::map<std::string, OfInterface> interfaces_;
  std::uint64_t segments_sent_ = 0, retransmits_ = 0, listen_drops_ = 0;
};

}  // namespace koord::network
