// SPDX-License-Identifier: Apache-2.0
// Reads RDMA devices and the counters of their ports from sysfs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "plugins/advisor-rdma/rdma.hpp"

namespace koord::rdma {

// One port of a device. nullopt: the device lacks the counter. Bytes are counted on the link, including RDMA's
// overhead.
struct Port {
  std::string device, port;  // "mlx5_0", "1"
  bool is_active = false;
  std::optional<std::uint64_t> received_bytes, sent_bytes, received_packets, sent_packets;
  std::optional<std::uint64_t> receive_errors, send_discards, link_downs;
};

// Returns names of all RDMA devices, including software devices, but without the names of virtual functions, which pods
// use.
std::vector<std::string> device_names(const std::string& sys_root);
// Returns the PCI devices with these names, ordered by address.
std::vector<Device> read_devices(const std::string& sys_root, const std::vector<std::string>& names);
std::vector<Port> read_ports(const std::string& sys_root, const std::string& device);

}  // namespace koord::rdma
