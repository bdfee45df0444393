// SPDX-License-Identifier: Apache-2.0
#include "core/report/devices.hpp"

#include <algorithm>
#include <boost/json.hpp>
#include <limits>
#include <tuple>

#include "core/base/quantity.hpp"
#include "core/base/timestamp.hpp"
#include "core/base/utf8.hpp"
#include "core/report/json_text.hpp"

namespace koord::report {
namespace {

namespace json = boost::json;

constexpr const char* kGpu = "gpu";
constexpr const char* kRdma = "rdma";
constexpr const char* kVendorLabel = "node.koordinator.sh/gpu-vendor";

// Kubernetes limits a condition's reason to 1024 bytes and its message to 32768 characters.
constexpr std::size_t kMaxReason = 1000;
constexpr std::size_t kMaxMessage = 32768;

// Returns an array as a json::value, because with a Result of an array, gcc 12 gives a false warning.
Result<json::value> parse_list(std::string_view text, const char* fact) {
  // Wraps the list in an object, so that parse_root() and its limits apply to lists, too.
  json::object root = TRY(parse_root(R"({"list":)" + std::string(text) + "}", fact));
  json::value& list = root["list"];
  if (root.size() != 1 || !list.is_array()) return invalid(std::string(fact) + ": expected a list");
  return std::move(list);
}

std::optional<std::int32_t> small_number_of(const json::object& object, std::string_view name) {
  const std::optional<std::int64_t> number = json_integer(object, name);
  if (!number || *number < -1 || *number > std::numeric_limits<std::int32_t>::max()) return std::nullopt;
  return static_cast<std::int32_t>(*number);
}

bool has(const std::vector<Device>& devices, const std::string& id) {
  return std::any_of(devices.begin(), devices.end(), [&id](const Device& device) { return device.id == id; });
}

// Reads the members that both facts have.
Result<Device> device_of(const json::value& item, const char* type, const char* fact) {
  if (!item.is_object()) return invalid(std::string(fact) + ": expected objects");
  const json::object& object = item.get_object();
  Device device{.type = type, .id = json_text(object, "id")};
  if (device.id.empty()) return invalid(std::string(fact) + ": id: expected a text");
  device.minor = small_number_of(object, "minor");
  if (device.minor == -1) device.minor.reset();
  device.numa_node = small_number_of(object, "nodeID").value_or(-1);
  device.pcie_root = json_text(object, "pcie");
  device.bus_id = json_text(object, "busID");
  return device;
}

// Returns a valid reason: a word that begins with a letter. API servers refuse the whole object if a reason is invalid.
// Advisors before 1.1 publish only NVML's number.
std::string reason_of(std::string_view code) {
  if (code.empty()) return "Unknown";
  std::string reason(code.substr(0, kMaxReason));
  const auto is_letter = [](char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); };
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  for (char& c : reason)
    if (!is_letter(c) && !is_digit(c)) c = '_';
  if (std::all_of(reason.begin(), reason.end(), is_digit)) return "NVMLError" + reason;
  return is_letter(reason.front()) ? reason : "Error_" + reason;
}

DeviceFault fault_of(const json::value& status) {
  DeviceFault fault{reason_of(json_text(status, "errCode")), json_text(status, "errMessage")};
  cut_utf8(fault.message, kMaxMessage);
  return fault;
}

json::object condition_of(const DeviceFault& fault, std::int64_t now_seconds) {
  return {{"type", "Healthy"},
          {"status", "False"},
          {"reason", fault.reason},
          {"message", fault.message},
          {"lastTransitionTime", format_timestamp(now_seconds)}};
}

// Returns the conditions. The transition time changes only if a different member of the condition changes.
json::array conditions_of(const DeviceFault& fault, const json::object& old, std::int64_t now_seconds) {
  json::object condition = condition_of(fault, now_seconds);
  if (const json::array& list = json_list(old, "conditions"); !list.empty()) {
    json::object before = list.front().is_object() ? list.front().get_object() : json::object();
    const std::string since = json_text(before, "lastTransitionTime");
    before["lastTransitionTime"] = condition["lastTransitionTime"];
    if (!since.empty() && json::value(before) == json::value(condition)) condition["lastTransitionTime"] = since;
  }
  return {json::value(std::move(condition))};
}

json::object object_of(const Device& device, const json::object& old, std::int64_t now_seconds) {
  json::object object{{"type", device.type}, {"id", device.id}, {"health", device.healthy}};
  if (device.minor) object["minor"] = *device.minor;
  json::object resources;
  for (const auto& [name, quantity] : device.resources) resources[name] = quantity;
  object["resources"] = std::move(resources);
  object["topology"] = json::object{
      {"socketID", -1}, {"nodeID", device.numa_node}, {"pcieID", device.pcie_root}, {"busID", device.bus_id}};
  if (!device.virtual_functions.empty()) {
    json::array functions;
    for (const std::string& address : device.virtual_functions)
      functions.push_back(json::object{{"minor", -1}, {"busID", address}});
    object["vfGroups"] = json::array{json::value(json::object{{"vfs", std::move(functions)}})};
  }
  if (device.fault) object["conditions"] = conditions_of(*device.fault, old, now_seconds);
  return object;
}

const json::object& find(const json::array& devices, const Device& device) {
  static const json::object none;
  for (const json::value& item : devices) {
    if (json_text(item, "type") == device.type && json_text(item, "id") == device.id) return item.get_object();
  }
  return none;
}

// Replaces the devices of one type by ours.
void replace(json::array& devices, const json::array& old, const char* type, const std::vector<Device>& ours,
             std::int64_t now_seconds) {
  json::array others;
  for (const json::value& item : devices) {
    if (json_text(item, "type") != type) others.push_back(item);
  }
  for (const Device& device : ours) others.push_back(object_of(device, find(old, device), now_seconds));
  devices = std::move(others);
}

bool before(const json::value& a, const json::value& b) {
  const auto key = [](const json::value& value) {
    return std::tuple(json_text(value, "type"), json_integer(value, "minor").value_or(-1), json_text(value, "id"));
  };
  return key(a) < key(b);
}

}  // namespace

Result<std::vector<Device>> parse_gpu_fact(std::string_view text) {
  constexpr const char* kFact = "GPU";
  std::vector<Device> devices;
  const json::value list = TRY(parse_list(text, kFact));
  for (const json::value& item : list.get_array()) {
    Device device = TRY(device_of(item, kGpu, kFact));
    const std::int64_t memory = json_integer(item, "memory-total").value_or(0);
    if (memory <= 0) return invalid("GPU: memory-total: expected bytes");
    device.resources = {{"koordinator.sh/gpu-core", "100"},
                        {"koordinator.sh/gpu-memory", format_binary(memory)},
                        {"koordinator.sh/gpu-memory-ratio", "100"}};
    const json::value& status = json_mapping(item, "status");
    device.healthy = json_flag(status, "healthy", true);
    if (!device.healthy) device.fault = fault_of(status);
    if (!has(devices, device.id)) devices.push_back(std::move(device));
  }
  return devices;
}

Result<std::vector<Device>> parse_rdma_fact(std::string_view text) {
  constexpr const char* kFact = "RDMA";
  std::vector<Device> devices;
  const json::value list = TRY(parse_list(text, kFact));
  for (const json::value& item : list.get_array()) {
    Device device = TRY(device_of(item, kRdma, kFact));
    device.healthy = json_flag(item, "health", true);
    device.resources = {{"koordinator.sh/rdma", "100"}};
    for (const auto& [address, _] : json_mapping(item, "vfMap").get_object())
      device.virtual_functions.emplace_back(address);
    std::sort(device.virtual_functions.begin(), device.virtual_functions.end());
    if (!has(devices, device.id)) devices.push_back(std::move(device));
  }
  return devices;
}

Result<std::optional<std::string>> merge_devices(const Devices& ours, std::string_view object,
                                                 std::int64_t now_seconds) {
  json::object root = TRY(parse_root(object, "Device"));
  json::object& spec = object_in(root, "spec");
  const json::array old = json_list(spec, "devices");
  json::array devices = old;
  if (ours.gpus) replace(devices, old, kGpu, *ours.gpus, now_seconds);
  if (ours.rdma) replace(devices, old, kRdma, *ours.rdma, now_seconds);
  std::sort(devices.begin(), devices.end(), before);
  bool changed = devices != old;
  spec["devices"] = std::move(devices);
  json::object& labels = object_in(object_in(root, "metadata"), "labels");
  if (ours.gpus && !ours.gpus->empty() && json_text(labels, kVendorLabel) != "nvidia") {
    labels[kVendorLabel] = "nvidia";
    changed = true;
  }
  return changed ? std::optional(json::serialize(root)) : std::nullopt;
}

std::string new_device_object(const state::Node& node) {
  return json::serialize(json::object{
      {"apiVersion", "scheduling.koordinator.sh/v1alpha1"},
      {"kind", "Device"},
      {"metadata", json::object{{"name", node.name},
                                {"ownerReferences", json::array{json::value(owner_reference(node.name, node.uid))}}}},
      {"spec", json::object{{"devices", json::array()}}}});
}

}  // namespace koord::report
