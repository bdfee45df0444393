// SPDX-License-Identifier: Apache-2.0
#include "core/host/hook_text.hpp"

#include <algorithm>

#include "core/base/utf8.hpp"

namespace koord::host {

std::string clean_hook_text(std::string_view text) {
  std::string clean(text.substr(0, kMaxHookText + 1));  // one more byte, to see whether a character continues
  cut_utf8(clean, kMaxHookText);
  std::replace_if(
      clean.begin(), clean.end(), [](char byte) { return byte == '\n' || byte == '\r' || byte == '\t'; }, ' ');
  replace_control_characters(clean);
  return clean;
}

}  // namespace koord::host
