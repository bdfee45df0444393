// SPDX-License-Identifier: Apache-2.0
// HookResponse: the response of one handle(), collected and checked with each call. The same in the agent and in a
// child. [any thread]
#pragma once

#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/result.hpp"
#include "core/host/hook_reach.hpp"
#include "koordetector/plugin.h"

namespace koord::host {

struct HookSettings {
  std::vector<std::pair<std::string, std::string>> fields;  // each field once: the last value that it was set to
  std::vector<std::pair<std::string, double>> scales;       // factors, each field once
  std::optional<std::string> rejection;                     // clean (hook_text.hpp)
};

class HookResponse {
 public:
  static constexpr std::size_t kMostFields = 256;
  // The names and values of all fields. A runtime takes 4 MiB from all hooks together.
  static constexpr std::size_t kMostBytes = 256 << 10;

  // `host`: receives errors, so that a status which the hook passes on has its text; may be null.
  explicit HookResponse(const koord_host* host, HookReach reach = {});
  HookResponse(const HookResponse&) = delete;
  HookResponse& operator=(const HookResponse&) = delete;

  // The argument of handle(); valid as long as this object.
  const koord_hook_response& table() const { return table_; }

  // Takes the settings; later ones are answered with KOORD_E_DEADLINE.
  HookSettings close();

 private:
  koord_status set(koord_str field, koord_str value);
  koord_status scale(koord_str field, double factor);
  koord_status reject(koord_str why);
  koord_status refused_late() const;
  Result<void> check_reach(std::string_view field) const;
  // Logs the first refusal of the answer.
  koord_status refuse(koord_status status, const std::string& why);
  koord_status fail(koord_status status, const std::string& why) const;
  // Whether there is room for this many bytes in place of others. Takes it.
  bool take_room(std::size_t bytes, std::size_t before);

  const koord_host* const host_;
  const HookReach reach_;
  const koord_hook_response table_;
  std::mutex mutex_;  // of what follows
  bool closed_ = false;
  bool has_refused_ = false;
  HookSettings settings_;
  std::size_t bytes_ = 0;  // of its fields
};

}  // namespace koord::host
