// SPDX-License-Identifier: Apache-2.0
// Settings shared by plugins with slot programs, and log lines about their source. For init().
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "koordetector/plugin.hpp"
#include "plugins/shared/latency/slot_programs.hpp"

namespace koord::latency {

// The settings `slots` and `btf`, as properties of a configuration schema. Each plugin has its own setting `source`.
inline constexpr char kSlotSettings[] = R"(
    "slots": {"type": "integer", "minimum": 2, "maximum": 65535,
              "description": "maximum number of cgroups measured separately; default: 4096"},
    "btf": {"type": "string", "description": "file with the kernel's types, if the kernel itself has none"})";

// Reads the settings `source`, `slots` and `btf`.
SlotOptions slot_options(const plugin::Config& config);

// The levels that have these series, where series of all subjects would be too many. The setting is none, node (the
// default), pods (node and pods) or all.
struct Levels {
  bool node = true, pod = false, container = false;
};
Levels levels(const plugin::Config& config, std::string_view setting);

// Logs one line for the source in use and one for each refused source.
void log_source(const koord_host* host, std::string_view what, std::string_view source,
                const std::vector<Refusal>& refused);

}  // namespace koord::latency
