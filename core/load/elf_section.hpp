// SPDX-License-Identifier: Apache-2.0
// Reads one section of an ELF shared object without mapping it and without trusting anything in it: every
// offset is checked, every read is bounded. Only what this machine could load is accepted (ELF64,
// little-endian, our machine). [any thread]
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "core/base/result.hpp"

namespace koord::load {

// Bytes of a file, or of memory when a fuzzer asks.
struct ByteSource {
  std::uint64_t size = 0;
  // Fills the span from this offset; the caller has checked that it lies within `size`.
  std::function<Result<void>(std::uint64_t offset, std::span<std::byte> into)> read;
};

ByteSource bytes_of_memory(std::span<const std::byte> memory);
Result<ByteSource> bytes_of_file(int fd);  // borrows the descriptor

// The content of the section; not found: std::errc::no_such_file_or_directory.
Result<std::string> read_elf_section(const ByteSource& source, std::string_view section, std::size_t max_bytes);

}  // namespace koord::load
