// SPDX-License-Identifier: Apache-2.0
// A plugin's own JSON Schema, with any content: applying it must end within limited time and stack. An input is a
// schema, a NUL and a configuration.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/load/config_schema.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::size_t end = input.find('\0');
  const std::string_view schema = input.substr(0, end);
  const std::string_view config = end == std::string_view::npos ? std::string_view("{}") : input.substr(end + 1);
  (void)koord::load::check_config(schema, config).has_value();
  return 0;
}
