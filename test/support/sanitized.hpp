// SPDX-License-Identifier: Apache-2.0
// True in a program with a sanitizer. The sanitizer adds memory and mappings, so tests must not measure them.
#pragma once

namespace koord::test {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kSanitized = true;
#elif defined(__has_feature)
inline constexpr bool kSanitized = __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#else
inline constexpr bool kSanitized = false;
#endif

}  // namespace koord::test
