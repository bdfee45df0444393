// SPDX-License-Identifier: Apache-2.0
// Records of the changes that hooks made to a container at its creation: an accepted record must be the same after
// writing and reading.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "core/hook/creation_file.hpp"

using namespace koord::hook;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto record = read_creation_record(text);
  if (!record) return 0;
  const auto again = read_creation_record(text_of(*record));
  // Escapes may make the text longer than the file limit.
  if (again ? *again != *record : text_of(*record).size() <= kMostRecordBytes) std::abort();
  if (file_name_of(*record).find('/') != std::string::npos) std::abort();
  return 0;
}
