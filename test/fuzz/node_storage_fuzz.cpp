// SPDX-License-Identifier: Apache-2.0
// The mount table, device mapper names and LVM's list of physical volumes, with arbitrary names and paths.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "plugins/advisor-node-storage/node_storage.hpp"
#include "test/fuzz/check.hpp"

using namespace koord::node_storage;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  check(unescape_octal(text).size() <= text.size());
  const BlockDevice mapped{.name = "dm-0",
                           .number = "253:0",
                           .dm_name = std::string(text),
                           .dm_uuid = "LVM-" + std::string(64, 'x'),
                           .lower = {"sda", "dm-0"}};
  const BlockDevice disk{.name = "sda", .number = "8:0", .is_disk = true, .size_bytes = 1};
  if (const auto volume = logical_volume(mapped)) check(!volume->group.empty() && volume->name.size() < size);
  PhysicalVolumes volumes;
  add_physical_volume(text, volumes);
  check(!local_storage_json(local_storage({mapped, disk}, volumes, parse_mountinfo(text))).empty());
  return 0;
}
