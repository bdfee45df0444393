// SPDX-License-Identifier: Apache-2.0
#include "core/config/plugin_id.hpp"

namespace koord::config {
namespace {

constexpr std::size_t kMaxLength = 128;
constexpr std::string_view kFirst = "abcdefghijklmnopqrstuvwxyz0123456789";
constexpr std::string_view kAllowed = "abcdefghijklmnopqrstuvwxyz0123456789.-";

}  // namespace

bool is_plugin_id(std::string_view text) {
  return !text.empty() && text.size() <= kMaxLength && kFirst.find(text.front()) != kFirst.npos &&
         text.find_first_not_of(kAllowed) == text.npos && text.find("..") == text.npos && text.back() != '.';
}

}  // namespace koord::config
