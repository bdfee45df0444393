// SPDX-License-Identifier: Apache-2.0
// Results of a plan, in the records of the plugin ABI. [any thread]
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/knob/plan_sink.hpp"
#include "koordetector/plugin.h"

namespace koord::service {

koord_status status_of(decision::Outcome outcome);

// Returns a line about an intent that the node or the kernel refused, or that another program overwrites; nullopt for
// other results. A knob that the node lacks is named without the cgroup.
std::optional<std::string> refusal_of(const knob::IntentResult& result);

// Borrows the texts from `results`.
std::vector<koord_intent_result> records_of(const std::vector<knob::IntentResult>& results);

}  // namespace koord::service
