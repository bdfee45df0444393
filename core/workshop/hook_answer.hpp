// SPDX-License-Identifier: Apache-2.0
// HookAnswer: keeps what a runtime hook answers to one request, as it answers it. One thread at a time.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "koordetector/plugin.h"

namespace koord::workshop {

class HookAnswer {
 public:
  HookAnswer();
  HookAnswer(const HookAnswer&) = delete;
  HookAnswer& operator=(const HookAnswer&) = delete;

  const koord_hook_response* table() const { return &table_; }
  const std::vector<std::pair<std::string, std::string>>& adjustments() const { return adjustments_; }
  const std::optional<std::string>& rejection() const { return rejection_; }

 private:
  static koord_status set(const koord_hook_response* response, koord_str field, koord_str value);
  static koord_status reject(const koord_hook_response* response, koord_str why);

  koord_hook_response table_;
  std::vector<std::pair<std::string, std::string>> adjustments_;  // field and value
  std::optional<std::string> rejection_;
};

// The stages of a hook as the ABI counts them, with their names.
struct HookStage {
  std::uint32_t bit;
  const char* name;
  bool of_container;  // else of a pod
};
const std::vector<HookStage>& hook_stages();

}  // namespace koord::workshop
