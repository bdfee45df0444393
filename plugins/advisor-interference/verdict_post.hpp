// SPDX-License-Identifier: Apache-2.0
// VerdictPost: posts the standing verdicts to the host through koord.verdict/1, and ends verdicts that do not stand any
// more. [one thread at a time]
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

// Resource of verdicts, and the units of their statistics. Default: the CPU.
struct Units {
  std::uint32_t resource = KOORD_RESOURCE_CPU;
  const char* statistic = "ratio";  // shares of time and of throughput
  const char* amounts = "seconds/second";
};

// Converts a verdict for koord.verdict/1. `from` of the argument is the end of its first window; the result begins at
// the start of that window.
plugin::Verdict posted_verdict(const analysis::Verdict& verdict, Duration window, const Units& units = {});

// Facts shown with a verdict. A function may be missing.
struct Details {
  std::function<double(std::uint64_t suspect)> request = {};  // request for the resource; NaN: no request
  // Returns all evaluated resources by name, with the finding about this victim, except the resource of the verdict.
  std::function<std::vector<std::pair<std::string, std::string>>(std::uint64_t victim)> looked_at = {};
  std::string note = {};  // explains how the values are counted
};

class VerdictPost {
 public:
  // Unchanged verdicts are posted again after this many windows, changed ones immediately.
  static constexpr int kRepeat = 5;

  VerdictPost() = default;
  VerdictPost(const koord_host* host, Duration window, const Units& units = {})
      : verdicts_(host), window_(window), units_(units) {}

  // `standing`: all standing verdicts about the resource after a window. Call it once per window.
  void update(const std::vector<analysis::Verdict>& standing, const Details& details = {});

 private:
  using Key = std::tuple<std::uint64_t, std::uint32_t, std::uint32_t>;  // victim, resource, kind

  bool post(const std::vector<plugin::Verdict>& verdicts) const;
  void add_details(plugin::Verdict& verdict, const Details& details) const;

  plugin::Verdicts verdicts_;
  Duration window_{};
  Units units_;
  std::set<Key> posted_;
  int windows_ = 0;  // number of windows since the last post of unchanged verdicts
};

}  // namespace koord::interference
