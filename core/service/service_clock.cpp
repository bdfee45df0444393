// SPDX-License-Identifier: Apache-2.0
// koord.clock/1: the host's clock.
#include "core/service/serve.hpp"
#include "core/service/services.hpp"

namespace koord::service {
namespace {

const Clock* clock_of(const koord_host* host) {
  return host && host->impl ? &static_cast<PluginContext*>(host->impl)->shared().clock : nullptr;
}

std::uint64_t now_ns(const koord_host* host) {
  const Clock* clock = clock_of(host);
  return clock ? to_ns(clock->now()) : 0;
}

std::uint64_t wall_ns(const koord_host* host) {
  const Clock* clock = clock_of(host);
  return clock ? static_cast<std::uint64_t>(clock->wall_ns()) : 0;
}

}  // namespace

const koord_svc_clock clock_service = {sizeof clock_service, 0, now_ns, wall_ns};

}  // namespace koord::service
