// SPDX-License-Identifier: Apache-2.0
// A plugin's file is untrusted, and libelf reads more of it than the agent does: symbols, versions and the dynamic
// section.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/workshop/check/elf_facts.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  (void)koord::check::read_elf_facts({reinterpret_cast<const char*>(data), size}).has_value();
  return 0;
}
