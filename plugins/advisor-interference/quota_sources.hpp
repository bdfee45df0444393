// SPDX-License-Identifier: Apache-2.0
// QuotaSources finds which CPU quota throttled a container: its own quota, or the quota of an ancestor. It compares
// cpu.stat of each cgroup in two windows. Used by one thread at a time.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "core/cgroup/layout.hpp"

namespace koord::interference {

class QuotaSources {
 public:
  struct Source {
    double above = 0;    // share of the throttled time caused by ancestors
    std::string cgroup;  // the ancestor that caused the largest part; empty: none did
    bool is_known = false;
  };

  explicit QuotaSources(cgroup::Layout layout) : layout_(std::move(layout)) {}

  // Call it before of() in each window.
  void begin_window();
  // Returns an empty Source if the cgroup was not queried in the last minute, or if cpu.stat lacks the throttled time.
  Source of(std::string_view cgroup);

 private:
  static constexpr int kForgetAfter = 60;  // windows

  struct Throttled {
    std::uint64_t ns = 0, before_ns = 0;
    int read_in = 0;
  };

  std::uint64_t throttled_in_window(std::string_view cgroup);

  cgroup::Layout layout_;
  std::unordered_map<std::string, Throttled> cgroups_;
  int window_ = 0;
};

}  // namespace koord::interference
