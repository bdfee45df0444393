// SPDX-License-Identifier: Apache-2.0
// SHA-256 and Ed25519 by OpenSSL's libcrypto. The library is loaded when one of these functions is first called and
// stays: linked, it would cost each agent 400 KiB of private memory, and few ask for it. [any thread]
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "core/base/result.hpp"

namespace koord::load {

inline constexpr std::size_t kSignatureBytes = 64;

using PublicKey = std::array<unsigned char, 32>;  // Ed25519

// 64 lower-case hexadecimal digits.
Result<std::string> sha256_of(std::string_view bytes);

// The Ed25519 key in a PEM text; any other kind of key, or none, is an error.
Result<PublicKey> read_public_key(const std::string& pem);

// Whether the owner of the key signed these bytes.
Result<bool> verify(const PublicKey& key, std::string_view signature, std::string_view bytes);

}  // namespace koord::load
