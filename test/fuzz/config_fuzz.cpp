// SPDX-License-Identifier: Apache-2.0
// A configuration file, an override, a list of gates, and YAML converted to JSON: any bytes give a value or an error.
// The input is a YAML document; an override may follow after the first NUL byte.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "core/config/feature_gates.hpp"
#include "core/config/json.hpp"
#include "core/config/load.hpp"
#include "core/config/manager_config.hpp"

using namespace koord::config;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::string_view document = input.substr(0, input.find('\0'));
  const std::string override_text(document.size() < size ? input.substr(document.size() + 1) : "workers=4");

  const auto config = parse(document, "fuzz", {override_text});
  if (!config && config.error().message().empty()) std::abort();
  const auto of_manager = parse_manager(document, "fuzz", {override_text});
  if (!of_manager && of_manager.error().message().empty()) std::abort();
  const auto json = yaml_to_json(document, "fuzz");
  if (json && !yaml_to_json(*json, "again")) std::abort();  // JSON must also be read as YAML
  (void)parse_gates(document);
  return 0;
}
