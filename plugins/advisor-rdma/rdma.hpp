// SPDX-License-Identifier: Apache-2.0
// RDMA devices as plain values, and what the texts of their files mean. Pure: values in, values out.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace koord::rdma {

// A physical PCI function of class 0x02 (network) with RDMA devices on it.
struct Device {
  std::string pci_address;                     // "0000:3b:00.0"
  std::string root;                            // of the PCI tree it hangs on: "pci0000:3a"
  std::string vendor, product;                 // PCI ids without 0x: "15b3"
  std::string interface;                       // its network interface; empty: none
  std::vector<std::string> names;              // "mlx5_0", sorted
  std::vector<std::string> virtual_functions;  // PCI addresses, in the order of their numbers
  std::int32_t minor = -1;                     // -1: no number to go by
  std::int32_t numa_node = 0;
  bool is_healthy = false;  // every port is active

  bool operator==(const Device&) const = default;
};

// "mlx5_12" is 12: koordlet's number of a device. Nothing for other names.
std::optional<std::int32_t> number_of_mlx(std::string_view name);
// "uverbs3" is 3.
std::optional<std::int32_t> number_of_verbs(std::string_view name);

// ports/*/state: "4: ACTIVE".
bool is_active(std::string_view state);

// "0000:3b:00.0", with a domain of any length.
bool is_pci_address(std::string_view name);
// The part "pci0000:3a" of a path of /sys/devices; empty: missing.
std::string_view pci_root(std::string_view path);

// A counter of a port. Nothing for "N/A (no PMA)" and the like.
std::optional<std::uint64_t> parse_counter(std::string_view text);

// koordlet's fact RDMA.
std::string devices_json(const std::vector<Device>& devices);

}  // namespace koord::rdma
