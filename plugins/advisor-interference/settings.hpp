// SPDX-License-Identifier: Apache-2.0
// Settings of the rule in the plugin's configuration. README.md explains each of them.
#pragma once

#include "core/analysis/rule_layers.hpp"
#include "koordetector/plugin.hpp"

namespace koord::interference {

// JSON Schema: members of `properties`, for settings::joined().
inline constexpr char kRuleSettings[] = R"(
    "rule": {"type": "object", "additionalProperties": false, "properties": {
      "throttledMsPerSecond": {"type": "number", "minimum": 0.1, "maximum": 10000, "description": "default 10"},
      "heldUpMsPerSecond": {"type": "number", "minimum": 0.1, "maximum": 10000, "description": "default 10"},
      "overQuiet": {"type": "number", "minimum": 1, "maximum": 100, "description": "default 2.5"},
      "latencyCpus": {"type": "number", "minimum": 0, "maximum": 1024, "description": "default 1"},
      "throughputCpus": {"type": "number", "minimum": 0, "maximum": 1024, "description": "default 0.3"},
      "lostThroughputPercent": {"type": "number", "minimum": 0.1, "maximum": 100, "description": "default 15"},
      "estimatedPercent": {"type": "number", "minimum": 0, "maximum": 100, "description": "default 10"},
      "windows": {"type": "integer", "minimum": 1, "maximum": 60, "description": "default 5"},
      "windowsWithFinding": {"type": "integer", "minimum": 1, "maximum": 60, "description": "default 3"},
      "clearAfter": {"type": "string", "description": "from 1s to 1h; default 10s"},
      "quietPercentile": {"type": "number", "minimum": 1, "maximum": 50, "description": "default 10"},
      "quietWindows": {"type": "integer", "minimum": 1, "maximum": 86400, "description": "default 60"},
      "quietHalfLife": {"type": "string", "description": "from 1m to 720h; default 6h"},
      "forgetAfter": {"type": "string", "description": "from 1m to 720h; default 24h"},
      "saveInterval": {"type": "string", "description": "from 1s to 24h; default 1m"},
      "blkio": {"type": "object", "additionalProperties": false, "properties": {
        "overQuiet": {"type": "number", "minimum": 1, "maximum": 100, "description": "default 1.5"},
        "excessMs": {"type": "number", "minimum": 0, "maximum": 10000, "description": "default 0.5"},
        "requestsForMean": {"type": "number", "minimum": 1, "maximum": 1000000, "description": "default 10"},
        "requestsForP99": {"type": "number", "minimum": 1, "maximum": 1000000, "description": "default 100"},
        "limitUsedPercent": {"type": "number", "minimum": 1, "maximum": 100, "description": "default 95"},
        "quietWindows": {"type": "integer", "minimum": 1, "maximum": 86400, "description": "default 10"},
        "quietHalfLife": {"type": "string", "description": "from 1m to 720h; default 6h"}}},
      "memory": {"type": "object", "additionalProperties": false, "properties": {
        "refaultMsPerSecond": {"type": "number", "minimum": 0.1, "maximum": 10000, "description": "default 10"},
        "overQuiet": {"type": "number", "minimum": 1, "maximum": 100, "description": "default 2.5"}}}}},
    "clusterRules": {"type": "boolean", "description": "take settings of the cluster's objects InterferenceDetectionRule; default true"},
    "checkpoints": {"enum": ["none", "read", "write"], "description": "share baselines with the cluster, as objects InterferenceMetricCheckpoint: read those of workloads that are new here; write: also write those of this node; default none"})";

// Returns the settings in the configuration. Throws a Failure that names the setting, its value and what is expected.
analysis::RuleLayer read_rule(const plugin::Config& config);

}  // namespace koord::interference
