// SPDX-License-Identifier: Apache-2.0
// How a growable record of the plugin ABI comes in, whatever version of it the plugin was built with. [any
// thread]
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>

#include "core/service/status.hpp"

namespace koord::service {

// No record will ever be this large: a struct_size beyond it was never set.
inline constexpr std::uint32_t kMaxRecordBytes = 64 * 1024;

// Copies a record that begins with its struct_size. A shorter one, of an older plugin, is filled up with
// zeros; a longer one, of a newer plugin, is taken when all we do not know is zero, else it is
// KOORD_E_TOO_NEW. In an array a record is at most as long as the stride.
template <class Record>
Result<Record> take_record(const void* in, const char* what, std::uint32_t longest = kMaxRecordBytes) {
  static_assert(std::is_trivially_copyable_v<Record> && std::is_same_v<decltype(Record::struct_size), std::uint32_t> &&
                offsetof(Record, struct_size) == 0);
  if (!in) return invalid(std::string(what) + " is NULL");
  const auto* bytes = static_cast<const unsigned char*>(in);
  std::uint32_t size;
  std::memcpy(&size, bytes, sizeof size);
  if (size < sizeof size || size > std::min(longest, kMaxRecordBytes))
    return invalid(std::string(what) + ": struct_size is " + std::to_string(size) + ", expected the record's size");
  if (size > sizeof(Record) &&
      std::any_of(bytes + sizeof(Record), bytes + size, [](unsigned char byte) { return byte != 0; }))
    return refuse(KOORD_E_TOO_NEW, std::string(what) + " uses members that this host does not know, behind byte " +
                                       std::to_string(sizeof(Record)));
  Record record = {};
  std::memcpy(&record, bytes, std::min<std::size_t>(size, sizeof(Record)));
  return record;
}

}  // namespace koord::service
