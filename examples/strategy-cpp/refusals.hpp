// SPDX-License-Identifier: Apache-2.0
// Reports intents that are not in effect. Each reason is reported once, even if the intent is repeated. Pure.
#pragma once

#include <koordetector/plugin.h>
#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <vector>

class Refusals {
 public:
  // Returns a line for the log; nullopt if the intent holds, the cgroup has ended, or the reason was reported before.
  std::optional<std::string> new_line(const std::string& cgroup, koord_status status, const std::string& winner) {
    if (status == KOORD_OK || status == KOORD_E_GONE) {
      reported_.erase(cgroup);
      return std::nullopt;
    }
    const std::string why = why_not(status, winner);
    std::string& reported = reported_[cgroup];
    if (reported == why) return std::nullopt;
    reported = why;
    return "cpu.max of '" + cgroup + "' is not ours: " + why;
  }

  // Removes pods that have ended.
  void keep_only(const std::vector<std::string>& cgroups) {
    for (auto known = reported_.begin(); known != reported_.end();) {
      const bool exists = std::find(cgroups.begin(), cgroups.end(), known->first) != cgroups.end();
      known = exists ? std::next(known) : reported_.erase(known);
    }
  }

 private:
  static std::string why_not(koord_status status, const std::string& winner) {
    switch (status) {
      case KOORD_E_DENIED:
        return "the operator lets this strategy run and not write";
      case KOORD_E_AGAIN:
        return "the intent of '" + winner + "' applies";
      case KOORD_E_UNSUPPORTED:
        return "this node has no such knob";
      case KOORD_E_DEADLINE:
        return "the intent expired, because it was not proposed again in time";
      default:
        return "status " + std::to_string(status);
    }
  }

  std::map<std::string, std::string> reported_;  // reasons by cgroup
};
