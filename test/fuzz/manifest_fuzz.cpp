// SPDX-License-Identifier: Apache-2.0
// The untrusted file of a plugin: invalid ELF tables and manifests are refused without other effects.
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "core/load/elf_section.hpp"
#include "core/load/manifest.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace koord::load;
  auto bytes = std::as_bytes(std::span(data, size));
  koord::Result<std::string> section =
      read_elf_section(bytes_of_memory(bytes), ".koord_manifest", kMaxManifestBytes + 1);
  if (section) (void)parse_manifest(*section).has_value();
  (void)parse_manifest({reinterpret_cast<const char*>(data), size}).has_value();
  return 0;
}
