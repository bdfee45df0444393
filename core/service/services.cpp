// SPDX-License-Identifier: Apache-2.0
#include "core/service/services.hpp"

namespace koord::service {
namespace {

constexpr OfferedService offered[] = {
    {"koord.audit/1", &audit_service},   {"koord.capabilities/1", &capabilities_service},
    {"koord.cgroup/1", &cgroup_service}, {"koord.clock/1", &clock_service},
    {"koord.config/1", &config_service}, {"koord.evict/1", &evict_service},
    {"koord.fs/1", &fs_service},         {"koord.knobs/1", &knobs_service},
    {"koord.kv/1", &kv_service},         {"koord.metrics/1", &metrics_service},
    {"koord.state/1", &state_service},   {"koord.verdict/1", &verdict_service},
};

}  // namespace

std::span<const OfferedService> offered_services() { return offered; }

const void* find_service(std::string_view id) {
  for (const OfferedService& service : offered) {
    if (service.id == id) return service.table;
  }
  return nullptr;
}

}  // namespace koord::service
