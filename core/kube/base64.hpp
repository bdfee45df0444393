// SPDX-License-Identifier: Apache-2.0
// Base64 of RFC 4648, section 4, as kubeconfig files hold certificates. [any thread]
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace koord::kube {

// Line breaks and spaces are passed over; nothing for any other character, or a length that cannot be.
std::optional<std::string> decode_base64(std::string_view text);

}  // namespace koord::kube
