// SPDX-License-Identifier: Apache-2.0
// The untrusted file of a plugin. libelf reads parts of it that the agent itself does not: symbols, versions and the
// dynamic section.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/workshop/check/elf_facts.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  (void)koord::check::read_elf_facts({reinterpret_cast<const char*>(data), size}).has_value();
  return 0;
}
