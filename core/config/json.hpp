// SPDX-License-Identifier: Apache-2.0
// YAML as JSON text: for a plugin's `config` mapping, and for readers of YAML files that use a JSON reader. Plain
// scalars are typed by YAML 1.2's core schema (null, true, 42, 0x2a, 1.5), the rest are strings. [any thread]
#pragma once

#include <boost/json/fwd.hpp>
#include <cstddef>
#include <string>
#include <string_view>

#include "core/base/result.hpp"

namespace koord::config {

// Limits for one document. A reference counts as the values it stands for. The depth is limited to kMaxJsonDepth
// always.
struct YamlLimits {
  std::size_t bytes = 1u << 20;
  std::size_t values = 100'000;
};

struct Node;

// Fails for what JSON cannot say: .inf and .nan.
Result<std::string> to_json(const Node& node);

// One YAML (or JSON) document, under the bounds of core/config/yaml.hpp; `source` names it in errors.
Result<std::string> yaml_to_json(std::string_view text, const std::string& source);
Result<boost::json::value> read_yaml_as_json(std::string_view text, const std::string& source, YamlLimits limits = {});

}  // namespace koord::config
