// SPDX-License-Identifier: Apache-2.0
// What became of a plan, in the records of the plugin ABI. [any thread]
#pragma once

#include <vector>

#include "core/knob/plan_sink.hpp"
#include "koordetector/plugin.h"

namespace koord::host {

koord_status status_of(knob::Outcome outcome);

// Borrows the texts from `results`.
std::vector<koord_intent_result> records_of(const std::vector<knob::IntentResult>& results);

}  // namespace koord::host
