// SPDX-License-Identifier: Apache-2.0
// Settings of the verdicts about caches in the plugin's configuration. RESOURCES.md explains each of them.
#pragma once

#include <cstddef>

#include "core/analysis/cache_analysis.hpp"
#include "koordetector/plugin.hpp"

namespace koord::interference {

// JSON Schema: members of `properties`, for settings::joined().
inline constexpr char kCacheSettings[] = R"(
    "cache": {"type": "object", "additionalProperties": false, "properties": {
      "enabled": {"type": "boolean", "description": "default true"},
      "maxDescriptors": {"type": "integer", "minimum": 1, "maximum": 1000000, "description": "default 8192"},
      "deviations": {"type": "number", "minimum": 0.5, "maximum": 10, "description": "default 2"},
      "slowDownPercent": {"type": "number", "minimum": 0, "maximum": 1000, "description": "default 5"},
      "victimCpus": {"type": "number", "minimum": 0.01, "maximum": 1024, "description": "default 0.25"},
      "suspectCpus": {"type": "number", "minimum": 0.01, "maximum": 1024, "description": "default 0.25"},
      "correlation": {"type": "number", "minimum": 0.1, "maximum": 1, "description": "default 0.5"},
      "windows": {"type": "integer", "minimum": 1, "maximum": 60, "description": "default 12"},
      "windowsOver": {"type": "integer", "minimum": 1, "maximum": 60, "description": "default 8"},
      "clearAfter": {"type": "string", "description": "from 5s to 1h; default 30s"},
      "learnTime": {"type": "string", "description": "from 1m to 24h; default 1h"},
      "learnWindows": {"type": "integer", "minimum": 10, "maximum": 100000, "description": "default 100"}}})";

struct CacheSettings {
  bool is_enabled = true;
  std::size_t most_descriptors = 8192;
  analysis::CacheRules rules = {};
};

// Reads the settings. Throws a Failure that names the setting, its value and what is expected.
CacheSettings read_cache_settings(const plugin::Config& config);

}  // namespace koord::interference
