// SPDX-License-Identifier: Apache-2.0
// The service tables behind the plugin ABI, one file each (service_<name>.cpp), and the list of what this host
// offers. Tables are constant and live as long as the process. [any thread]
#pragma once

#include <span>
#include <string_view>

#include "koordetector/plugin.h"

namespace koord::service {

extern const koord_svc_metrics metrics_service;
extern const koord_svc_state state_service;
extern const koord_svc_kv kv_service;
extern const koord_svc_config config_service;
extern const koord_svc_clock clock_service;
extern const koord_svc_fs fs_service;
extern const koord_svc_cgroup cgroup_service;
extern const koord_svc_audit audit_service;
extern const koord_svc_capabilities capabilities_service;
extern const koord_svc_knobs knobs_service;
extern const koord_svc_evict evict_service;
extern const koord_svc_verdict verdict_service;

struct OfferedService {
  std::string_view id;  // "name/revision"
  const void* table;
};

// By id. grants.hpp decides which plugins may have which of them.
std::span<const OfferedService> offered_services();

// nullptr: not offered by this host.
const void* find_service(std::string_view id);

}  // namespace koord::service
