// SPDX-License-Identifier: Apache-2.0
#include "plugins/advisor-gpu/device_facts.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <system_error>

#include "core/json/writer.hpp"
#include "plugins/shared/node/value_file.hpp"

namespace koord::gpu {
namespace {

constexpr std::string_view kNvidia = "0x10de";
constexpr std::string_view kDisplayClass = "0x03";

bool has_one_numa_node(const std::string& sys) {
  const auto nodes = node::read_set(sys + "/devices/system/node/online");
  return !nodes || nodes->size() <= 1;
}

// Returns "pci0000:3a" for "../../../devices/pci0000:3a/0000:3a:00.0/0000:3b:00.0".
std::string pcie_root_in(const std::filesystem::path& link) {
  for (const std::filesystem::path& part : link)
    if (part.native().starts_with("pci") && part.native().find(':') != std::string::npos) return part.native();
  return {};
}

}  // namespace

std::string sysfs_bus_id(std::string_view nvml) {
  std::string id(nvml);
  std::transform(id.begin(), id.end(), id.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const std::size_t domain = id.find(':');
  // sysfs prints at least four digits of the domain, and more only if needed.
  while (domain != std::string::npos && id.find(':') > 4 && id.front() == '0') id.erase(0, 1);
  return id;
}

PciPlace pci_place(const std::string& sys, const std::string& bus_id) {
  const std::string device = sys + "/bus/pci/devices/" + bus_id;
  PciPlace place;
  if (const auto numa_node = node::read_number(device + "/numa_node"))
    place.numa_node = *numa_node < 0 && has_one_numa_node(sys) ? 0 : static_cast<int>(*numa_node);
  std::error_code ignored;
  place.pcie_root = pcie_root_in(std::filesystem::read_symlink(device, ignored));
  return place;
}

std::vector<std::string> nvidia_gpus(const std::string& sys) {
  const std::string devices = sys + "/bus/pci/devices/";
  std::vector<std::string> gpus = node::names_in(devices);
  std::erase_if(gpus, [&](const std::string& id) {
    return node::read_text(devices + id + "/vendor") != kNvidia ||
           !node::read_text(devices + id + "/class").value_or("").starts_with(kDisplayClass);
  });
  return gpus;
}

std::string to_json(const std::vector<GpuFact>& gpus) {
  JsonWriter json;
  json.begin_array();
  for (const GpuFact& gpu : gpus) {
    json.begin_object()
        .member("id", gpu.uuid)
        .member("minor", gpu.minor)
        .member("memory-total", gpu.memory_total_bytes);
    json.member("nodeID", gpu.place.numa_node).member("pcie", gpu.place.pcie_root).member("busID", gpu.bus_id);
    json.key("status").begin_object().member("healthy", !gpu.fault);
    if (gpu.fault)
      json.member("errCode", "NVMLError" + std::to_string(gpu.fault->code)).member("errMessage", gpu.fault->text);
    json.end_object().end_object();
  }
  return json.end_array().text();
}

}  // namespace koord::gpu
