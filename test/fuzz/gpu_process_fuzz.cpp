// SPDX-License-Identifier: Apache-2.0
// Inputs of advisor-gpu: /proc/<pid>/cgroup of a process, and the memory into which NVML wrote a list of processes.
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "plugins/advisor-gpu/device_facts.hpp"
#include "plugins/advisor-gpu/process_list.hpp"
#include "plugins/advisor-gpu/process_owner.hpp"
#include "test/fuzz/check.hpp"

using namespace koord::gpu;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const Owners owners = {{"kubepods/pod1", {std::nullopt, 1}}, {"kubepods/pod1/c1", {2, 1}}};
  if (const auto owner = owner_of(text, owners)) {
    check(*owner == Owner{std::nullopt, 1} || *owner == Owner{2, 1});
    check(text.find("kubepods/pod1") != std::string_view::npos);
  }
  check(sysfs_bus_id(text).size() <= size);
  const std::size_t count = size / 24;
  if (const auto processes = decode_processes(std::as_bytes(std::span(data, size)), count))
    check(processes->size() == count);
  return 0;
}
