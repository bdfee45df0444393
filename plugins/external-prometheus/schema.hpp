// SPDX-License-Identifier: Apache-2.0
// JSON Schema of the configuration of external-prometheus. Pure.
#pragma once

#include "plugins/shared/sdk/joined.hpp"
#include "plugins/shared/sdk/scrape_limits.hpp"

namespace koord::external_prometheus {

inline constexpr auto kConfigSchema = settings::joined(R"json({
  "type": "object", "additionalProperties": false,
  "definitions": {
    "label": {"type": "string", "pattern": "^[a-zA-Z_][a-zA-Z0-9_]{0,199}$"},
    "labels": {"type": "array", "maxItems": 64, "items": {"$ref": "#/definitions/label"}},
    "file": {"type": "string", "pattern": "^/"}
  },
  "properties": {
    "targets": {"type": "array", "maxItems": 64, "items": {
      "type": "object", "additionalProperties": false, "required": ["name", "url"], "properties": {
        "name": {"type": "string", "pattern": "^[a-zA-Z0-9_.:/-]{1,64}$", "description": "the label 'target' of its series"},
        "url": {"type": "string", "pattern": "^(https?://|unix:/)", "maxLength": 2048},
        "periodSeconds": {"type": "number", "minimum": 1, "maximum": 86400, "description": "default 15"},
        "timeoutSeconds": {"type": "number", "minimum": 0.1, "maximum": 60, "description": "default 10"},
        "metrics": {"type": "array", "maxItems": 256, "items": {"type": "string", "pattern": "^[a-zA-Z0-9_:*]{1,200}$"},
                    "description": "names, '*' stands for any characters; default: every metric"},
        "rename": {"type": "object", "additionalProperties": false, "properties": {
          "prefix": {"type": "string", "pattern": "^[a-zA-Z_][a-zA-Z0-9_]{0,99}$"},
          "names": {"type": "array", "maxItems": 256, "items": {
            "type": "object", "additionalProperties": false, "required": ["from", "to"], "properties": {
              "from": {"type": "string", "pattern": "^[a-zA-Z_:][a-zA-Z0-9_:]{0,199}$"},
              "to": {"type": "string", "pattern": "^[a-zA-Z_][a-zA-Z0-9_]{0,199}$"}}}}}},
        "labels": {"type": "object", "additionalProperties": false, "properties": {
          "keep": {"$ref": "#/definitions/labels"},
          "drop": {"$ref": "#/definitions/labels"},
          "add": {"type": "array", "maxItems": 16, "items": {
            "type": "object", "additionalProperties": false, "required": ["name", "value"], "properties": {
              "name": {"$ref": "#/definitions/label"}, "value": {"type": "string", "minLength": 1, "maxLength": 1024}}}}}},
        "subject": {"type": "object", "additionalProperties": false, "minProperties": 1, "properties": {
          "podUid": {"$ref": "#/definitions/label"},
          "namespace": {"$ref": "#/definitions/label"},
          "pod": {"$ref": "#/definitions/label"},
          "container": {"$ref": "#/definitions/label"},
          "containerId": {"$ref": "#/definitions/label"},
          "unknown": {"enum": ["drop", "node"], "description": "a series of a pod that is not here; default drop"}}},
        "tls": {"type": "object", "additionalProperties": false, "properties": {
          "caFile": {"$ref": "#/definitions/file"},
          "certificateFile": {"$ref": "#/definitions/file"},
          "keyFile": {"$ref": "#/definitions/file"},
          "serverName": {"type": "string", "minLength": 1, "maxLength": 255}}},
        "tokenFile": {"$ref": "#/definitions/file"},)json",
                                                       settings::kScrapeLimits, R"json(
      }}}
  }})json");

}  // namespace koord::external_prometheus
