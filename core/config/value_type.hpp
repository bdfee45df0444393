// SPDX-License-Identifier: Apache-2.0
// The types that a configuration key can have: how each is called in the reference and how a node becomes a
// value. Inside core/config only.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/clock.hpp"
#include "core/base/linux_capability.hpp"
#include "core/base/result.hpp"
#include "core/config/config.hpp"
#include "core/config/document.hpp"
#include "core/config/feature_gates.hpp"
#include "core/config/report.hpp"

namespace koord::config {

// `read` reports what is wrong with the node, in the name of the key at `path`, and then returns nothing.
template <class T>
struct ValueType {
  std::string name;
  std::function<std::optional<T>(const Node& node, const std::string& path, Report& report)> read;
};

ValueType<std::string> any_text();
// "run/acme/state.json": a root, then a path below it.
ValueType<std::string> granted_file();
// A cgroup relative to the hierarchy's root, or "/".
ValueType<std::string> granted_cgroup();
ValueType<std::string> absolute_path();
ValueType<std::string> absolute_path_or_empty();
ValueType<std::string> socket_path_or_empty();       // as long as the kernel's sun_path holds
ValueType<std::string> host_and_port_or_empty();     // "127.0.0.1:9316", "[::1]:9316", ":9316"
ValueType<std::string> address_and_port_or_empty();  // "10.0.0.7:9443", "[fd00::1]:9443"; not a host's name
ValueType<std::string> object_name();                // "namespace/name"
ValueType<std::string> namespace_or_empty();
ValueType<std::string> lease_name();
ValueType<std::string> service_name_or_empty();
ValueType<std::string> sha256_or_empty();  // in lower case
ValueType<bool> boolean();
ValueType<std::uint64_t> integer(std::uint64_t least, std::uint64_t most);
ValueType<Duration> duration(Duration least, Duration most);
ValueType<std::uint64_t> size(std::uint64_t least);        // bytes, as a Kubernetes quantity
ValueType<std::uint64_t> cpu(std::uint64_t least_millis);  // thousandths of a core, as a Kubernetes quantity
ValueType<CapabilityMask> capabilities();                  // a list of names, "CAP_BPF"
ValueType<NetworkMask> network_families();                 // a list of names, "tcp"
ValueType<std::string> hook_field();                       // "device" or "mount"
ValueType<std::vector<IsolationLayer>> isolation_layers();
ValueType<GateMap> gate_map();
ValueType<std::string> mapping_as_json();

// "list of <type>"
ValueType<std::vector<std::string>> list_of(ValueType<std::string> item);

// An optional value; for keys with no default.
template <class T>
ValueType<std::optional<T>> optional(ValueType<T> type) {
  return {type.name, [read = type.read](const Node& node, const std::string& path, Report& report) {
            std::optional<T> value = read(node, path, report);
            return value ? std::optional(std::move(value)) : std::nullopt;
          }};
}

// The scalar in the node, or an error that says what was found instead.
Result<std::string> scalar_of(const Node& node, std::string_view expected);

// Reports "path: text at FILE:LINE:COL".
void report_value(Report& report, const std::string& path, const Node& node, const Error& error);

// One of a few names, those that to_string gives the values.
template <class Enum>
ValueType<Enum> choice(std::initializer_list<Enum> list) {
  const std::vector<Enum> values = list;
  std::string name;
  for (Enum value : values) name += (name.empty() ? "one of " : ", ") + std::string(to_string(value));
  return {name, [=](const Node& node, const std::string& path, Report& report) -> std::optional<Enum> {
            if (node.kind == NodeKind::scalar)
              for (Enum value : values)
                if (to_string(value) == node.text) return value;
            report_value(report, path, node, invalid("expected " + name + ", found " + describe(node)));
            return std::nullopt;
          }};
}

}  // namespace koord::config
