// SPDX-License-Identifier: Apache-2.0
// Checks of the records that a plugin passes to a service, as far as nothing of the host is needed for them: the same
// on both sides of a channel, so that of two mistakes both name the same one. [any thread]
#pragma once

#include <cstdint>
#include <string>

#include "core/base/clock.hpp"
#include "core/evict/request.hpp"
#include "core/knob/intent.hpp"
#include "core/metric/registry.hpp"
#include "core/service/arguments.hpp"

namespace koord::service {

class PluginContext;

// Returns the time to live of an intent.
Duration ttl_of(std::uint64_t ns);

// A KOORD_ROOT_*.
Result<void> root_argument(std::uint32_t root);
Result<metric::Desc> desc_argument(const koord_metric_desc* desc);
Result<knob::Intent> intent_argument(const Array<koord_intent>& intents, std::uint32_t i);
Result<evict::Request> eviction_argument(const koord_eviction* eviction);

// A record that was refused: a line for the log, and what the plugin gets.
struct Refusal {
  koord_status status;
  std::string line, text;
};
// The line names the knob and the cgroup, as far as the intent does.
Refusal refusal_of_intent(const Array<koord_intent>& intents, std::uint32_t i, const Error& error);
Refusal refusal_of_eviction(const Error& error);

// Logs it. Returns the plugin's error.
Error logged(PluginContext& context, const Refusal& refusal);

// For a plugin in another process, which has refused a record: judges the intents before it, and answers and logs as
// propose(), request() and post() would have done.
koord_status refuse_plan(const koord_host* host, const koord_intent* before, std::uint32_t n, const Refusal& refusal);
koord_status refuse_record(const koord_host* host, const Refusal& refusal);

}  // namespace koord::service
