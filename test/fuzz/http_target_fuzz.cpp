// SPDX-License-Identifier: Apache-2.0
// The target of a request, and the header Accept-Encoding.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "core/base/url.hpp"
#include "core/http/gzip.hpp"
#include "core/http/url.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  (void)koord::http::accepts_gzip(text);
  auto target = koord::http::parse_target(text);
  if (!target) return 0;
  // An accepted target is the same after writing and reading.
  for (const auto& [name, value] : target->query.parameters()) {
    auto again = koord::percent_decode(koord::percent_encode(value), true);
    if (!again || *again != value || name.empty()) std::abort();
  }
  if (!target->path.starts_with('/') || target->path.find('\0') != std::string::npos) std::abort();
  return 0;
}
