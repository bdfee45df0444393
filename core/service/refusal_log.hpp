// SPDX-License-Identifier: Apache-2.0
// RefusalLog: decides which refusals of what plugins ask for are logged. Each reason is logged once an hour for each
// plugin, whatever the number of its sessions, and a plugin has a bounded number of reasons. [any thread]
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/clock.hpp"

namespace koord::service {

class RefusalLog {
 public:
  static constexpr Duration kQuiet = std::chrono::hours(1);  // between two lines with one reason
  static constexpr std::size_t kMaxReasons = 32;             // of one plugin within kQuiet

  // Returns the line to log, without the plugin's name; nullopt if the reason was logged lately. The line after a pause
  // says how many refusals were not logged.
  std::optional<std::string> admit(std::string_view plugin, const std::string& reason, Time now);

 private:
  struct Reason {
    Time logged{};
    std::uint64_t left_out = 0;
  };
  struct OfPlugin {
    std::map<std::string, Reason, std::less<>> reasons;
    std::optional<Time> full_since;  // when it was logged that it has too many
  };
  std::mutex mutex_;
  std::map<std::string, OfPlugin, std::less<>> plugins_;
};

}  // namespace koord::service
