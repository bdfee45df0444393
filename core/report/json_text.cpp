// SPDX-License-Identifier: Apache-2.0
#include "core/report/json_text.hpp"

#include <boost/json.hpp>

#include "core/base/parse.hpp"
#include "core/base/quantity.hpp"

namespace koord::report {
namespace {

namespace json = boost::json;
using namespace std::chrono_literals;

constexpr std::size_t kMaxDepth = 64;
constexpr std::size_t kMaxBytes = 8u << 20;

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
  return {{"apiVersion", "v1"},   {"kind", "Node"},      {"name", node},
          {"uid", uid},           {"controller", true},  {"blockOwnerDeletion", true}};
}

Result<json::object> parse_root(std::string_view text, const char* what) {
  if (text.size() > kMaxBytes) return invalid(std::string(what) + ": more than 8 MiB");
  json::error_code error;
  json::parse_options options;
  options.max_depth = kMaxDepth;
  json::value value = json::parse(json_view(text), error, {}, options);
  if (error) return invalid(std::string(what) + ": not JSON: " + error.message());
  if (!value.is_object()) return invalid(std::string(what) + ": expected an object");
  return std::move(value.as_object());
}

const json::object& member_of(const json::object& object, std::string_view name) {
  static const json::object none;
  const json::value* value = object.if_contains(json_view(name));
  return value != nullptr && value->is_object() ? value->get_object() : none;
}

std::string_view text_of(const json::object& object, std::string_view name) {
  const json::value* value = object.if_contains(json_view(name));
  if (value == nullptr || !value->is_string()) return {};
  const json::string& text = value->get_string();
  return {text.data(), text.size()};
}

bool same_json(std::string_view a, std::string_view b) {
  json::error_code error;
  const json::value left = json::parse(json_view(a), error);
  if (error) return false;
  const json::value right = json::parse(json_view(b), error);
  return !error && left == right;
}

}  // namespace koord::report
