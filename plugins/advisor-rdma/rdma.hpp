// SPDX-License-Identifier: Apache-2.0
// RDMA devices as plain values, and the parsing of their files. Pure: values in, values out.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace koord::rdma {

// A physical PCI function of class 0x02 (network) with RDMA devices.
struct Device {
  std::string pci_address;                     // "0000:3b:00.0"
  std::string root;                            // root of its PCI tree: "pci0000:3a"
  std::string vendor, product;                 // PCI ids without 0x: "15b3"
  std::string interface;                       // its network interface; empty: none
  std::vector<std::string> names;              // "mlx5_0", sorted
  std::vector<std::string> virtual_functions;  // PCI addresses, ordered by number
  std::int32_t minor = -1;                     // -1: no number known
  std::int32_t numa_node = 0;
  bool is_healthy = false;  // every port is active

  bool operator==(const Device&) const = default;
};

// Returns 12 for "mlx5_12": koordlet's number of a device. nullopt for other names.
std::optional<std::int32_t> number_of_mlx(std::string_view name);
// Returns 3 for "uverbs3".
std::optional<std::int32_t> number_of_verbs(std::string_view name);

// Parses ports/*/state: "4: ACTIVE".
bool is_active(std::string_view state);

// Returns whether the name is a PCI address like "0000:3b:00.0", with a domain of any length.
bool is_pci_address(std::string_view name);
// Returns the part "pci0000:3a" of a path of /sys/devices; "" if missing.
std::string_view pci_root(std::string_view path);

// Parses a counter of a port; nullopt for "N/A (no PMA)" and similar texts.
std::optional<std::uint64_t> parse_counter(std::string_view text);

// Returns koordlet's fact RDMA.
std::string devices_json(const std::vector<Device>& devices);

}  // namespace koord::rdma
