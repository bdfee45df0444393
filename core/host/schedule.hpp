// SPDX-License-Identifier: Apache-2.0
// The times of ticks. Those of one period fall on host time's multiples of it, so that samples of several plugins can
// be compared. Each plugin ticks a little after the other: they do not all wake the machine at once, nor wait for each
// other. Pure. [any thread]
#pragma once

#include "core/base/clock.hpp"

namespace koord::host {

// How far plugin number `nth` ticks after the multiple of its period: less than a tenth of it, and less than
// 1 s.
Duration tick_phase(Duration period, unsigned nth);

// From `now` to the next tick that is at least half a period away: an instance that starts ticks once at
// once, and a rate over a moment says nothing.
Duration delay_to_tick(Time now, Duration period, Duration phase);

}  // namespace koord::host
