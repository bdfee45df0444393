// SPDX-License-Identifier: Apache-2.0
// Reads one YAML document into a Node. Any bytes are safe: the bounds below refuse what would cost memory or
// stack, and anchors count at each use, so that an alias bomb meets the bound too. Merge keys, tags of one's
// own and several documents are refused; a key twice in a mapping is reported, its first value kept. Inside
// core/config only. [any thread]
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "core/base/result.hpp"
#include "core/config/document.hpp"
#include "core/config/json.hpp"
#include "core/config/report.hpp"
#include "core/json/reader.hpp"

namespace koord::config {

inline constexpr std::size_t kMaxYamlDepth = kMaxJsonDepth;

// `source` names the file or override in errors and places.
Result<Node> read_yaml(std::string_view text, const std::string& source, Report& report, YamlLimits limits = {});

}  // namespace koord::config
