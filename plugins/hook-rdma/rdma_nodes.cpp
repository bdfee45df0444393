// SPDX-License-Identifier: Apache-2.0
#include "plugins/hook-rdma/rdma_nodes.hpp"

#include "plugins/shared/node/value_file.hpp"

namespace koord::hook_rdma {
namespace {

constexpr std::string_view kVerbs = "uverbs";

Error missing_node(const std::string& what, const std::string& path) {
  return not_found(what + " has no device node: '" + path + "' is missing");
}

Result<DeviceNode> manager_node(const std::string& sys) {
  const std::string path = sys + "/class/misc/rdma_cm/dev";
  const auto numbers = node::read_text(path);
  if (!numbers) return missing_node("RDMA's connection manager", path);
  return DeviceNode{"rdma_cm", *numbers};
}

Result<DeviceNode> verbs_node(const std::string& sys, const std::string& address) {
  const std::string folder = sys + "/bus/pci/devices/" + address + "/infiniband_verbs";
  for (const std::string& name : node::names_in(folder)) {
    const auto numbers = name.starts_with(kVerbs) ? node::read_text(folder + "/" + name + "/dev") : std::nullopt;
    if (numbers) return DeviceNode{name, *numbers};
  }
  return missing_node("RDMA device " + address, folder + "/uverbs*/dev");
}

}  // namespace

Result<std::vector<std::string>> addresses_of(const std::vector<device::Device>& devices) {
  std::vector<std::string> addresses;
  for (const device::Device& one : devices) {
    if (one.virtual_functions.empty() && !device::is_pci_address(one.id))
      return invalid("RDMA device " + std::to_string(one.minor) +
                     " has neither virtual functions nor a PCI address as its id");
    if (one.virtual_functions.empty()) addresses.push_back(one.id);
    addresses.insert(addresses.end(), one.virtual_functions.begin(), one.virtual_functions.end());
  }
  return addresses;
}

Result<std::vector<DeviceNode>> find_nodes(const std::string& sys, const std::vector<std::string>& addresses) {
  std::vector<DeviceNode> nodes;
  if (addresses.empty()) return nodes;
  nodes.push_back(TRY(manager_node(sys)));
  for (const std::string& address : addresses) nodes.push_back(TRY(verbs_node(sys, address)));
  return nodes;
}

std::pair<std::string, std::string> field_of(const DeviceNode& node) {
  return {"device:/dev/infiniband/" + node.name, "c " + node.numbers + " 0666"};
}

}  // namespace koord::hook_rdma
