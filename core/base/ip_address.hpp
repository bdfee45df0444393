// SPDX-License-Identifier: Apache-2.0
// Checks whether a text is an IP address: without a port, a zone or brackets. [any thread]
#pragma once

#include <arpa/inet.h>

#include <array>
#include <string>

namespace koord {

inline bool is_ipv4_address(const std::string& text) {
  std::array<unsigned char, sizeof(in_addr)> address;
  return ::inet_pton(AF_INET, text.c_str(), address.data()) == 1;
}

inline bool is_ipv6_address(const std::string& text) {
  std::array<unsigned char, sizeof(in6_addr)> address;
  return ::inet_pton(AF_INET6, text.c_str(), address.data()) == 1;
}

inline bool is_ip_address(const std::string& text) { return is_ipv4_address(text) || is_ipv6_address(text); }

}  // namespace koord
