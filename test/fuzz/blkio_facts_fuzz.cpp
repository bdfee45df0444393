// SPDX-License-Identifier: Apache-2.0
// Facts of any content that name disks and volumes, and an arbitrary mount point.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "plugins/qos-blkio/devices.hpp"
#include "test/fuzz/check.hpp"

using namespace koord::blkio;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  check(volume_of_mount(text).size() <= size);
  Known known;
  if (auto volumes = parse_pod_volumes(text)) known.pod_volumes = *std::move(volumes);
  if (auto storage = parse_storage(text)) known.storage = *std::move(storage);
  for (const auto& [uid, volumes] : known.pod_volumes)
    for (const auto& [volume, directory] : volumes) {
      const auto number = number_of({volume, koord::slo::BlockType::pod_volume, {}}, uid, known);
      check(number || !number.error().text.empty());
    }
  if (known.storage)
    for (const auto& [group, disk] : known.storage->disk_of_group) {
      const auto number = number_of({group, koord::slo::BlockType::volume_group, {}}, "", known);
      check(number.has_value() == known.storage->number_of_disk.contains(disk));
    }
  return 0;
}
