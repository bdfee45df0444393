// SPDX-License-Identifier: Apache-2.0
// Facts about a PCI device from sysfs, and the JSON list of GPUs for koord.kv/1. [any thread]
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace koord::gpu {

// Converts NVML's "00000000:3B:00.0" to "0000:3b:00.0" of sysfs.
std::string sysfs_bus_id(std::string_view nvml);

struct PciPlace {
  int numa_node = -1;     // -1: unknown, on a machine with several NUMA nodes
  std::string pcie_root;  // "pci0000:3a"; empty: unknown
};

// Returns the place of a device. `sys`: the directory /sys. A machine with one NUMA node reports -1 for its devices,
// which means 0.
PciPlace pci_place(const std::string& sys, const std::string& bus_id);

// Returns bus ids of NVIDIA's display and 3D controllers, with or without a driver.
std::vector<std::string> nvidia_gpus(const std::string& sys);

struct GpuFact {
  std::string uuid;
  std::uint32_t minor = 0;
  std::uint64_t memory_total_bytes = 0;
  std::string bus_id;
  PciPlace place = {};
  struct Fault {
    int code;
    std::string text;
  };
  std::optional<Fault> fault = {};
};

// Returns JSON with koordlet's member names.
std::string to_json(const std::vector<GpuFact>& gpus);

}  // namespace koord::gpu
