// SPDX-License-Identifier: Apache-2.0
#include "core/host/plan_sink.hpp"

namespace koord::host {

void KeepPlans::take(std::string_view plugin_id, Plan plan) {
  std::lock_guard lock(mutex_);
  plans_.insert_or_assign(std::string(plugin_id), std::move(plan));
}

void KeepPlans::withdraw(std::string_view plugin_id) {
  std::lock_guard lock(mutex_);
  if (auto plan = plans_.find(plugin_id); plan != plans_.end()) plans_.erase(plan);
}

std::map<std::string, Plan> KeepPlans::plans() const {
  std::lock_guard lock(mutex_);
  return {plans_.begin(), plans_.end()};
}

}  // namespace koord::host
