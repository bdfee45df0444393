// SPDX-License-Identifier: Apache-2.0
// The reference of all configuration keys, rendered from the schema: the default configuration file that is
// packaged, the documentation and `--help` come from here. [any thread]
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace koord::config {

struct KeyReference {
  std::string path;                // "store.maxBytes"; "plugins.settings.<id>.period" for a plugin's
  std::string_view type;           // "size", "duration", "one of auto, file, cgroup", …
  std::string_view default_value;  // as YAML
  std::string_view help;
};

// In the order of the schema.
std::vector<KeyReference> list_keys();

// Valid YAML: every key with its default, its type and help in a comment above. Loading it gives the
// defaults.
std::string reference_yaml();

}  // namespace koord::config
