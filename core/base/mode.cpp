// SPDX-License-Identifier: Apache-2.0
#include "core/base/mode.hpp"

#include <string>

namespace koord {

std::string_view to_string(Mode mode) {
  switch (mode) {
    case Mode::off:
      return "off";
    case Mode::shadow:
      return "shadow";
    case Mode::enforce:
      break;
  }
  return "enforce";
}

Result<Mode> parse_mode(std::string_view text) {
  for (Mode mode : {Mode::off, Mode::shadow, Mode::enforce})
    if (to_string(mode) == text) return mode;
  return invalid("'" + std::string(text) + "' is not a mode, expected off, shadow or enforce");
}

}  // namespace koord
