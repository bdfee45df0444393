// SPDX-License-Identifier: Apache-2.0
#include "core/report/json_text.hpp"

#include <boost/json.hpp>

#include "core/base/parse.hpp"
#include "core/base/quantity.hpp"
#include "core/json/reader.hpp"

namespace koord::report {
namespace {

namespace json = boost::json;
using namespace std::chrono_literals;

json::object device(const DeviceUsage& usage) {
  json::object resources{{"koordinator.sh/gpu-core", format_decimal(usage.core_percent)},
                         {"koordinator.sh/gpu-memory", format_binary(usage.memory_bytes)}};
  if (usage.memory_percent) resources["koordinator.sh/gpu-memory-ratio"] = format_decimal(*usage.memory_percent);
  return {{"type", "gpu"},
          {"id", usage.uuid},
          {"minor", usage.minor},
          {"health", usage.healthy},
          {"resources", std::move(resources)}};
}

}  // namespace

std::string format_go_duration(Duration duration) {
  if (duration % 1s != 0s) return format_duration(duration);
  const std::int64_t seconds = duration / 1s;
  std::string text = std::to_string(seconds % 60) + "s";
  if (seconds >= 60) text = std::to_string(seconds / 60 % 60) + "m" + text;
  if (seconds >= 3600) text = std::to_string(seconds / 3600) + "h" + text;
  return text;
}

json::object resource_map(const Usage& usage) {
  json::object map;
  if (usage.amounts)
    map["resources"] = json::object{{"cpu", format_decimal_milli(usage.amounts->cpu_milli)},
                                    {"memory", format_binary(usage.amounts->memory_bytes)}};
  if (!usage.devices.empty()) {
    json::array devices;
    for (const DeviceUsage& one : usage.devices) devices.push_back(device(one));
    map["devices"] = std::move(devices);
  }
  return map;
}

json::object owner_reference(const std::string& node, const std::string& uid) {
  return {{"apiVersion", "v1"}, {"kind", "Node"},     {"name", node},
          {"uid", uid},         {"controller", true}, {"blockOwnerDeletion", true}};
}

Result<json::object> parse_root(std::string_view text, const char* what) {
  Result<json::object> root = read_json_object(text);
  if (!root) return invalid(std::string(what) + ": " + root.error().text);
  return root;
}

json::object& object_in(json::object& object, std::string_view name) {
  json::value& value = object[json_view(name)];
  if (!value.is_object()) value = json::object();
  return value.get_object();
}

bool same_json(std::string_view a, std::string_view b) {
  const Result<json::value> left = read_json(a), right = read_json(b);
  return left && right && *left == *right;
}

}  // namespace koord::report
