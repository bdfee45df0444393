// SPDX-License-Identifier: Apache-2.0
// Whether a sanitizer watches this program: then memory and mappings are as much its own as ours.
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
