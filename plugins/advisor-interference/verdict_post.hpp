// SPDX-License-Identifier: Apache-2.0
// VerdictPost: gives the standing verdicts to the host through koord.verdict/1, and ends those that stand no longer.
// [one thread at a time]
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core/analysis/verdict.hpp"
#include "koordetector/verdicts.hpp"

namespace koord::interference {

// Resource of verdicts, and the units of their figures. The default is that of the CPU.
struct Units {
  std::uint32_t resource = KOORD_RESOURCE_CPU;
  const char* statistic = "ratio";  // shares of time, and of throughput
  const char* amounts = "seconds/second";
};

// Returns it as the host takes it. A verdict begins a window before the end of its first one.
plugin::Verdict posted_verdict(const analysis::Verdict& verdict, Duration window, const Units& units = {});

// Facts that are shown beside the figures. A function may be missing.
struct Details {
  std::function<double(std::uint64_t suspect)> request = {};  // of the resource; NaN: it requests none
  // All resources that were looked at, by name, with the finding about this victim; that of the verdict is left out.
  std::function<std::vector<std::pair<std::string, std::string>>(std::uint64_t victim)> looked_at = {};
  std::string note = {};  // how the figures are counted
};

class VerdictPost {
 public:
  // Values are posted again after this many windows, changes at once.
  static constexpr int kRepeat = 5;

  VerdictPost() = default;
  VerdictPost(const koord_host* host, Duration window, const Units& units = {})
      : verdicts_(host), window_(window), units_(units) {}

  // All that stand about the resource after a window.
  void update(const std::vector<analysis::Verdict>& standing, const Details& details = {});

 private:
  using Key = std::tuple<std::uint64_t, std::uint32_t, std::uint32_t>;  // victim, resource, kind

  bool post(const std::vector<plugin::Verdict>& verdicts) const;
  void add_details(plugin::Verdict& verdict, const Details& details) const;

  plugin::Verdicts verdicts_;
  Duration window_{};
  Units units_;
  std::set<Key> posted_;
  int windows_ = 0;  // since the last post of values
};

}  // namespace koord::interference
