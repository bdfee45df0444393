// SPDX-License-Identifier: Apache-2.0
// `--set a.b=c` on top of a document. Inside core/config only.
#pragma once

#include <string>

#include "core/config/document.hpp"
#include "core/config/report.hpp"

namespace koord::config {

// Puts the value, read as YAML, under the key; mappings on the way are made. "a.b=" is the empty string. A part in
// double quotes may hold dots and equals signs: plugins.settings."com.example.x".period=1s.
void apply_override(Node& root, const std::string& text, Report& report);

// Returns one part of a key in the form of overrides and errors: in quotes if it has a dot.
std::string quote_key(const std::string& part);

}  // namespace koord::config
