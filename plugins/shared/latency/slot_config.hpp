// SPDX-License-Identifier: Apache-2.0
// The settings that plugins with slot programs have in common, and what they say of their source. In init().
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "koordetector/plugin.hpp"
#include "plugins/shared/latency/slot_programs.hpp"

namespace koord::latency {

// The settings `slots` and `btf`, as properties of a configuration schema; `source` is each plugin's own.
inline constexpr char kSlotSettings[] = R"(
    "slots": {"type": "integer", "minimum": 2, "maximum": 65535,
              "description": "maximum number of cgroups measured separately; default: 4096"},
    "btf": {"type": "string", "description": "file with the kernel's types, if the kernel itself has none"})";

// `source`, `slots` and `btf`.
SlotOptions slot_options(const plugin::Config& config);

// The subjects that have series of which all subjects would have too many. The setting is none, node (the default),
// pods (and node) or all.
struct Levels {
  bool node = true, pod = false, container = false;
};
Levels levels(const plugin::Config& config, std::string_view setting);

// One line for the source in use and one for each that was refused.
void log_source(const koord_host* host, std::string_view what, std::string_view source,
                const std::vector<Refusal>& refused);

}  // namespace koord::latency
