// SPDX-License-Identifier: Apache-2.0
// Reads the configuration: a YAML file, overrides from the command line over it, defaults under it, all
// through one schema. An error lists everything that is wrong, a line each, with file:line:column and, for an
// unknown key, the nearest known one. Any bytes are safe to read: size, depth and number of values are
// bounded. [any thread]
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"
#include "core/config/config.hpp"

namespace koord::config {

// `path` "" = no file. An override is "a.b=c", its value YAML: "store.retention=6h",
// "plugins.directories=[/opt/p]"; it replaces what the file says under that key.
Result<Config> load(const std::string& path, const std::vector<std::string>& overrides = {});

// The same for a text at hand; `name` stands for the file in errors.
Result<Config> parse(std::string_view text, const std::string& name, const std::vector<std::string>& overrides = {});

}  // namespace koord::config
