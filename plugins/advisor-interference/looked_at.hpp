// SPDX-License-Identifier: Apache-2.0
// The finding about a container on a resource in the last window, as a text for verdicts about its other resources.
// Pure. [any thread]
#pragma once

#include <functional>
#include <string>

#include "core/analysis/io_rule.hpp"
#include "core/analysis/memory_rule.hpp"

namespace koord::interference {

// Returns a text like "held up for > 1 ms during 0.3 % of the time". `held_up`: E(1 ms) in seconds per second.
std::string looked_at_cpu(double held_up);
// Returns a text about the stream with the longest requests, like "vda 0.4 ms for a read, 3 % by others", or "no
// requests".
std::string looked_at(const analysis::IoWindow& window,
                      const std::function<std::string(std::uint32_t device)>& name_of_device);
// Returns a text like "0 refaults/s".
std::string looked_at(const analysis::MemoryWindow& window);

}  // namespace koord::interference
