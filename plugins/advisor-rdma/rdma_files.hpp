// SPDX-License-Identifier: Apache-2.0
// RDMA devices and the counters of their ports, from sysfs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "plugins/advisor-rdma/rdma.hpp"

namespace koord::rdma {

// One port of a device; nothing: this device does not count it. Bytes are on the link, with what RDMA adds.
struct Port {
  std::string device, port;  // "mlx5_0", "1"
  bool is_active = false;
  std::optional<std::uint64_t> received_bytes, sent_bytes, received_packets, sent_packets;
  std::optional<std::uint64_t> receive_errors, send_discards, link_downs;
};

// Names of all RDMA devices but those of virtual functions, which are for pods to use; software devices are among them.
std::vector<std::string> device_names(const std::string& sys_root);
// Returns the PCI devices behind those names, by address.
std::vector<Device> read_devices(const std::string& sys_root, const std::vector<std::string>& names);
std::vector<Port> read_ports(const std::string& sys_root, const std::string& device);

}  // namespace koord::rdma
