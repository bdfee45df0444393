// SPDX-License-Identifier: Apache-2.0
#include "plugins/advisor-rdma/rdma_files.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>

#include "plugins/shared/node/value_file.hpp"

namespace koord::rdma {
namespace {

// Unit of the data counters: words of four bytes (InfiniBand Architecture Specification, PortCounters).
constexpr std::uint64_t kWordBytes = 4;

std::string class_dir(const std::string& sys_root) { return sys_root + "/class/infiniband"; }

// Returns "15b3" for "0x15b3".
std::string read_id(const std::string& path) {
  const std::string text = node::read_text(path).value_or("");
  return text.starts_with("0x") ? text.substr(2) : text;
}

std::string real_path(const std::string& path) {
  const std::unique_ptr<char, decltype(&std::free)> resolved(::realpath(path.c_str(), nullptr), &std::free);
  return resolved ? resolved.get() : "";
}

std::vector<std::string> virtual_functions(const std::string& pci_dir) {
  std::map<std::int64_t, std::string> by_number;
  constexpr std::string_view kPrefix = "virtfn";
  for (const std::string& name : node::names_in(pci_dir)) {
    if (!name.starts_with(kPrefix)) continue;
    const std::optional<std::string> address = node::link_name(pci_dir + "/" + name);
    const std::optional<std::uint64_t> number = parse_counter(std::string_view(name).substr(kPrefix.size()));
    if (address && number) by_number[static_cast<std::int64_t>(*number)] = *address;
  }
  std::vector<std::string> addresses;
  for (const auto& [number, address] : by_number) addresses.push_back(address);
  return addresses;
}

// Returns koordlet's number for Mellanox devices; for others the number of the device file /dev/infiniband/uverbsN.
std::int32_t minor_of(const std::string& pci_dir, const std::vector<std::string>& names) {
  std::optional<std::int32_t> least;
  const auto take = [&least](std::optional<std::int32_t> number) {
    if (number && (!least || *number < *least)) least = number;
  };
  for (const std::string& name : names) take(number_of_mlx(name));
  if (least) return *least;
  for (const std::string& name : node::names_in(pci_dir + "/infiniband_verbs")) take(number_of_verbs(name));
  return least.value_or(-1);
}

bool is_healthy(const std::string& sys_root, const std::vector<std::string>& names) {
  std::size_t ports = 0;
  for (const std::string& name : names) {
    const std::string dir = class_dir(sys_root) + "/" + name + "/ports";
    for (const std::string& port : node::names_in(dir)) {
      if (!is_active(node::read_text(dir + "/" + port + "/state").value_or(""))) return false;
      ++ports;
    }
  }
  return ports > 0;
}

Device read_device(const std::string& sys_root, const std::string& address, std::vector<std::string> names) {
  const std::string dir = sys_root + "/bus/pci/devices/" + address;
  Device device{.pci_address = address, .vendor = read_id(dir + "/vendor"), .product = read_id(dir + "/device")};
  device.root = pci_root(real_path(dir));
  const std::vector<std::string> interfaces = node::names_in(dir + "/net");
  if (!interfaces.empty()) device.interface = interfaces.front();
  device.virtual_functions = virtual_functions(dir);
  device.minor = minor_of(dir, names);
  device.numa_node =
      static_cast<std::int32_t>(std::max<std::int64_t>(node::read_number(dir + "/numa_node").value_or(0), 0));
  device.is_healthy = is_healthy(sys_root, names);
  device.names = std::move(names);
  return device;
}

std::optional<std::uint64_t> times(std::optional<std::uint64_t> value, std::uint64_t factor) {
  return value ? std::optional(*value * factor) : std::nullopt;
}

Port read_port(const std::string& dir, const std::string& device, const std::string& name) {
  const auto counter = [&](const char* file) {
    return parse_counter(node::read_text(dir + "/counters/" + file).value_or(""));
  };
  Port port{.device = device, .port = name, .is_active = is_active(node::read_text(dir + "/state").value_or(""))};
  port.received_bytes = times(counter("port_rcv_data"), kWordBytes);
  port.sent_bytes = times(counter("port_xmit_data"), kWordBytes);
  port.received_packets = counter("port_rcv_packets");
  port.sent_packets = counter("port_xmit_packets");
  port.receive_errors = counter("port_rcv_errors");
  port.send_discards = counter("port_xmit_discards");
  port.link_downs = counter("link_downed");
  return port;
}

}  // namespace

std::vector<std::string> device_names(const std::string& sys_root) {
  std::vector<std::string> names;
  for (const std::string& name : node::names_in(class_dir(sys_root))) {
    if (!node::exists(class_dir(sys_root) + "/" + name + "/device/physfn")) names.push_back(name);
  }
  return names;
}

std::vector<Device> read_devices(const std::string& sys_root, const std::vector<std::string>& names) {
  std::map<std::string, std::vector<std::string>> by_address;
  for (const std::string& name : names) {
    const std::string address = node::link_name(class_dir(sys_root) + "/" + name + "/device").value_or("");
    const bool is_network =
        node::read_text(sys_root + "/bus/pci/devices/" + address + "/class").value_or("").starts_with("0x02");
    if (is_pci_address(address) && is_network) by_address[address].push_back(name);
  }
  std::vector<Device> devices;
  for (auto& [address, of_it] : by_address) devices.push_back(read_device(sys_root, address, std::move(of_it)));
  return devices;
}

std::vector<Port> read_ports(const std::string& sys_root, const std::string& device) {
  const std::string dir = class_dir(sys_root) + "/" + device + "/ports";
  std::vector<Port> ports;
  for (const std::string& name : node::names_in(dir)) ports.push_back(read_port(dir + "/" + name, device, name));
  return ports;
}

}  // namespace koord::rdma
