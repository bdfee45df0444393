// SPDX-License-Identifier: Apache-2.0
// Names and labels of objects in Kubernetes, by the rules of its API server. [any thread]
#pragma once

#include <string_view>

namespace koord {

// A label of RFC 1123: the name of a namespace.
bool is_dns_label(std::string_view text);
// A label of RFC 1035, which begins with a letter: the name of a Service.
bool is_service_name(std::string_view text);
// A subdomain of RFC 1123: the name of a Node, a Lease or a ConfigMap.
bool is_dns_subdomain(std::string_view text);

// "app", "app.kubernetes.io/name"
bool is_label_key(std::string_view text);
bool is_label_value(std::string_view text);

// The rules in words, for errors: "expected " + ...
inline constexpr std::string_view kDnsLabelRule = "at most 63 of a-z, 0-9 and '-', without '-' at either end";
inline constexpr std::string_view kServiceNameRule =
    "at most 63 of a-z, 0-9 and '-', a letter first and no '-' at the end";
inline constexpr std::string_view kDnsSubdomainRule =
    "at most 253 of a-z, 0-9, '-' and '.', a letter or digit at both ends and beside each '.'";
inline constexpr std::string_view kLabelKeyRule =
    "at most 63 of A-Z, a-z, 0-9, '-', '_' and '.', a letter or digit at both ends, after an optional 'DOMAIN/'";
inline constexpr std::string_view kLabelValueRule =
    "at most 63 of A-Z, a-z, 0-9, '-', '_' and '.', a letter or digit at both ends";

}  // namespace koord
