// SPDX-License-Identifier: Apache-2.0
// Converts decisions and knobs to JSON. Includes Boost.JSON, so only .cpp files of core/api include it.
#pragma once

#include <boost/json.hpp>

#include "core/base/clock.hpp"
#include "core/decision/decision.hpp"
#include "core/knob/knob_view.hpp"

namespace koord::api {

boost::json::object json_of(const decision::Decision& decision);
boost::json::object json_of(const knob::KnobView& knob, const Clock& clock);

}  // namespace koord::api
