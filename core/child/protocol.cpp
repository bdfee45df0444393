// SPDX-License-Identifier: Apache-2.0
#include "core/child/protocol.hpp"

namespace koord::child {

const char* table_of(Service service) {
  switch (service) {
    case Service::define:
    case Service::series:
    case Service::end_series:
    case Service::append:
    case Service::append_until:
    case Service::append_histograms:
    case Service::aggregate:
    case Service::samples:
      return "koord.metrics/1";
    case Service::acquire:
    case Service::subscribe:
    case Service::processes:
      return "koord.state/1";
    case Service::kv_get:
    case Service::kv_set:
    case Service::kv_remove:
      return "koord.kv/1";
    case Service::config_json:
    case Service::config_i64:
    case Service::config_f64:
    case Service::config_boolean:
    case Service::config_string:
      return "koord.config/1";
    case Service::clock_now:
    case Service::clock_wall:
      return "koord.clock/1";
    case Service::fs_path:
    case Service::fs_read:
      return "koord.fs/1";
    case Service::cgroup_open:
    case Service::cgroup_read:
    case Service::cgroup_close:
      return "koord.cgroup/1";
    case Service::audit_record:
      return "koord.audit/1";
    case Service::capability_get:
    case Service::capability_report:
      return "koord.capabilities/1";
    case Service::propose:
    case Service::refuse_plan:
    case Service::refuse_plan_size:
    case Service::current:
    case Service::base:
      return "koord.knobs/1";
    case Service::evict_request:
    case Service::refuse_eviction:
      return "koord.evict/1";
    case Service::verdict_post:
    case Service::refuse_verdicts:
    case Service::verdict_end:
    case Service::verdict_acquire:
    case Service::verdict_subscribe:
      return "koord.verdict/1";
    default:
      return nullptr;
  }
}

}  // namespace koord::child
