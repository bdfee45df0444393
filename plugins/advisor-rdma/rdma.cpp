// SPDX-License-Identifier: Apache-2.0
#include "plugins/advisor-rdma/rdma.hpp"

#include <algorithm>

#include "core/base/parse.hpp"
#include "core/json/writer.hpp"

namespace koord::rdma {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f'); }

std::optional<std::int32_t> number(std::string_view text) {
  if (text.empty() || !std::all_of(text.begin(), text.end(), is_digit)) return std::nullopt;
  const Result<std::uint64_t> value = parse_uint(text);
  return value && *value <= INT32_MAX ? std::optional(static_cast<std::int32_t>(*value)) : std::nullopt;
}

void write(JsonWriter& json, const Device& device) {
  json.begin_object().member("id", device.pci_address);
  if (!device.interface.empty()) json.member("netDev", device.interface);
  json.key("rdmaResources").begin_array();
  for (const std::string& name : device.names) json.value(name);
  json.end_array().member("vfEnabled", !device.virtual_functions.empty());
  json.key("vfMap").begin_object();
  for (const std::string& address : device.virtual_functions)
    json.key(address).begin_object().member("id", address).end_object();
  json.end_object()
      .member("minor", device.minor)
      .member("vendorCode", device.vendor)
      .member("deviceCode", device.product);
  json.member("nodeID", device.numa_node).member("pcie", device.root).member("busID", device.pci_address);
  json.member("health", device.is_healthy).end_object();
}

}  // namespace

std::optional<std::int32_t> number_of_mlx(std::string_view name) {
  const std::size_t underscore = name.find('_');
  if (!name.starts_with("mlx") || underscore == std::string_view::npos || !number(name.substr(3, underscore - 3)))
    return std::nullopt;
  return number(name.substr(underscore + 1));
}

std::optional<std::int32_t> number_of_verbs(std::string_view name) {
  return name.starts_with("uverbs") ? number(name.substr(6)) : std::nullopt;
}

bool is_active(std::string_view state) {
  const std::size_t colon = state.find(':');
  return colon != std::string_view::npos && trim(state.substr(colon + 1)) == "ACTIVE";
}

bool is_pci_address(std::string_view name) {
  constexpr std::string_view kTail = "hh:hh.d";
  if (name.size() < 5 + kTail.size()) return false;
  const std::string_view domain = name.substr(0, name.size() - kTail.size() - 1), tail = name.substr(domain.size() + 1);
  if (name[domain.size()] != ':' || !std::all_of(domain.begin(), domain.end(), is_hex)) return false;
  return is_hex(tail[0]) && is_hex(tail[1]) && tail[2] == ':' && is_hex(tail[3]) && is_hex(tail[4]) && tail[5] == '.' &&
         is_digit(tail[6]);
}

std::string_view pci_root(std::string_view path) {
  while (const auto part = next_field(path, '/')) {
    // "pci", a domain, ':', a bus
    if (!part->starts_with("pci") || part->size() < 10 || (*part)[part->size() - 3] != ':') continue;
    const std::string_view rest = part->substr(3);
    if (std::all_of(rest.begin(), rest.end(), [](char c) { return is_hex(c) || c == ':'; })) return *part;
  }
  return {};
}

std::optional<std::uint64_t> parse_counter(std::string_view text) {
  const Result<std::uint64_t> value = parse_uint(trim(text));
  return value ? std::optional(*value) : std::nullopt;
}

std::string devices_json(const std::vector<Device>& devices) {
  JsonWriter json;
  json.begin_array();
  for (const Device& device : devices) write(json, device);
  json.end_array();
  return json.text();
}

}  // namespace koord::rdma
