// SPDX-License-Identifier: Apache-2.0
// Facts about a PCI device in sysfs, and the JSON list of GPUs for koord.kv/1. [any thread]
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace koord::gpu {

// "00000000:3B:00.0", as NVML writes it, is "0000:3b:00.0".
std::string sysfs_bus_id(std::string_view nvml);

struct PciPlace {
  int numa_node = -1;     // -1: unknown, and the node has several
  std::string pcie_root;  // "pci0000:3a"; empty: unknown
};

// `sys`: the path of /sys. A node with one NUMA node says -1 of its devices, which means 0.
PciPlace pci_place(const std::string& sys, const std::string& bus_id);

// Bus ids of NVIDIA's display and 3D controllers, whether a driver is there or not.
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

// The member names are koordlet's.
std::string to_json(const std::vector<GpuFact>& gpus);

}  // namespace koord::gpu
