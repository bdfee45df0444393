// SPDX-License-Identifier: Apache-2.0
#include "core/base/object_name.hpp"

#include <algorithm>

namespace koord {
namespace {

constexpr std::size_t kMaxLabel = 63;
constexpr std::size_t kMaxSubdomain = 253;

bool is_lower_or_digit(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }
bool is_letter_or_digit(char c) { return is_lower_or_digit(c) || (c >= 'A' && c <= 'Z'); }

bool is_subdomain_part(std::string_view text) {
  return !text.empty() && is_lower_or_digit(text.front()) && is_lower_or_digit(text.back()) &&
         std::all_of(text.begin(), text.end(), [](char c) { return is_lower_or_digit(c) || c == '-'; });
}

bool is_label_name(std::string_view text) {
  return !text.empty() && text.size() <= kMaxLabel && is_letter_or_digit(text.front()) &&
         is_letter_or_digit(text.back()) && std::all_of(text.begin(), text.end(), [](char c) {
           return is_letter_or_digit(c) || c == '-' || c == '_' || c == '.';
         });
}

}  // namespace

bool is_dns_label(std::string_view text) { return text.size() <= kMaxLabel && is_subdomain_part(text); }

bool is_service_name(std::string_view text) {
  return is_dns_label(text) && !(text.front() >= '0' && text.front() <= '9');
}

bool is_dns_subdomain(std::string_view text) {
  if (text.size() > kMaxSubdomain) return false;
  for (;;) {
    const std::size_t dot = text.find('.');
    if (!is_subdomain_part(text.substr(0, dot))) return false;
    if (dot == text.npos) return true;
    text.remove_prefix(dot + 1);
  }
}

bool is_label_key(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == text.npos) return is_label_name(text);
  return is_dns_subdomain(text.substr(0, slash)) && is_label_name(text.substr(slash + 1));
}

bool is_label_value(std::string_view text) { return text.empty() || is_label_name(text); }

}  // namespace koord
