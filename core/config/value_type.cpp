// SPDX-License-Identifier: Apache-2.0
#include "core/config/value_type.hpp"

#include <sys/un.h>

#include <algorithm>
#include <limits>
#include <optional>

#include "core/base/ip_address.hpp"
#include "core/base/object_name.hpp"
#include "core/base/parse.hpp"
#include "core/base/quantity.hpp"
#include "core/config/json.hpp"
#include "core/config/never_read.hpp"

namespace koord::config {
namespace {

// Returns a type for single scalars. `read` returns the value or the error of a node.
template <class T, class Read>
ValueType<T> scalar_type(std::string name, Read read) {
  return {std::move(name), [read](const Node& node, const std::string& path, Report& report) -> std::optional<T> {
            Result<T> value = read(node);
            if (value) return *std::move(value);
            report_value(report, path, node, value.error());
            return std::nullopt;
          }};
}

Error out_of_range(const Node& node, const std::string& least, const std::string& most) {
  return invalid(describe(node) + " is out of range, expected " + least + " to " + most);
}

Result<std::string> read_absolute_path(const Node& node) {
  Result<std::string> path = scalar_of(node, "an absolute path");
  if (path && !path->starts_with('/')) return invalid("expected an absolute path, found " + describe(node));
  return path;
}

// Returns whether a part of the path is empty, "." or "..".
bool has_dots(std::string_view path) {
  while (const auto part = next_field(path, '/'))
    if (part->empty() || *part == "." || *part == "..") return true;
  return false;
}

// Returns whether the path consists of the name of one of the node's roots and a path below it.
bool is_granted_path(std::string_view path) {
  if (has_dots(path)) return false;
  const std::string_view root = path.substr(0, path.find('/'));
  return root.size() + 1 < path.size() &&
         (root == "proc" || root == "sys" || root == "cgroup" || root == "resctrl" || root == "run");
}

struct HostAndPort {
  std::string host;
  bool is_bracketed;  // the host had brackets in the text
  std::uint64_t port;
};

// Splits a host and a port. The port follows the last colon. Returns nullopt if there is no port.
std::optional<HostAndPort> split_host_and_port(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos) return std::nullopt;
  const Result<std::uint64_t> port = parse_uint(std::string_view(text).substr(colon + 1));
  if (!port || *port > 65535) return std::nullopt;
  const std::string host = text.substr(0, colon);
  const bool is_bracketed = host.starts_with('[') && host.ends_with(']');
  return HostAndPort{is_bracketed ? host.substr(1, host.size() - 2) : host, is_bracketed, *port};
}

// Reads a host and a port. An IPv6 address must be in brackets.
Result<std::string> read_host_and_port(const Node& node) {
  const std::string text = TRY(scalar_of(node, "host:port"));
  const std::optional<HostAndPort> place = split_host_and_port(text);
  if (!place || (place->host.find(':') != std::string::npos && !place->is_bracketed))
    return invalid("expected host:port, such as '127.0.0.1:9316', found " + describe(node));
  return text;
}

// Reads an IP address and a port. An IPv6 address must be in brackets.
Result<std::string> read_address_and_port(const Node& node) {
  const std::string text = TRY(scalar_of(node, "an IP address and a port"));
  const std::optional<HostAndPort> place = split_host_and_port(text);
  if (!place || place->port == 0 || !(place->is_bracketed ? is_ipv6_address : is_ipv4_address)(place->host))
    return invalid("expected an IP address and a port, such as '10.0.0.7:9443' or '[fd00::1]:9443', found " +
                   describe(node));
  return text;
}

// Reads the name of an object of Kubernetes. `rule`: what a name is, in words.
ValueType<std::string> name_type(std::string_view what, bool (*is_name)(std::string_view), std::string_view rule) {
  return scalar_type<std::string>(std::string(what), [=](const Node& node) -> Result<std::string> {
    const std::string name = TRY(scalar_of(node, "the " + std::string(what)));
    if (!is_name(name))
      return invalid("expected the " + std::string(what) + " (" + std::string(rule) + "), found " + describe(node));
    return name;
  });
}

Result<std::string> read_sha256(const Node& node) {
  std::string digest = TRY(scalar_of(node, "64 hexadecimal digits"));
  for (char& digit : digest)
    if (digit >= 'A' && digit <= 'F') digit = static_cast<char>(digit - 'A' + 'a');
  if (digest.size() != 64 || digest.find_first_not_of("0123456789abcdef") != digest.npos)
    return invalid("expected 64 hexadecimal digits, found " + describe(node));
  return digest;
}

Result<bool> read_boolean(const Node& node) {
  if (node.kind == NodeKind::scalar && !node.quoted) {
    if (node.text == "true") return true;
    if (node.text == "false") return false;
  }
  return invalid("expected true or false, found " + describe(node));
}

// Returns the same type with "" as another value. `meaning`: of that, in words.
ValueType<std::string> or_empty(ValueType<std::string> type, std::string_view meaning = " for off") {
  return {type.name + ", or \"\"" + std::string(meaning),
          [read = type.read](const Node& node, const std::string& path, Report& report) {
            if (node.kind == NodeKind::scalar && node.text.empty()) return std::optional(std::string());
            return read(node, path, report);
          }};
}

std::optional<GateMap> read_gates(const Node& node, const std::string& path, Report& report) {
  if (node.kind != NodeKind::mapping) {
    report_value(report, path, node, invalid("expected a mapping of gates to true or false, found " + describe(node)));
    return std::nullopt;
  }
  GateMap gates;
  for (const Entry& entry : node.entries) {
    const Result<bool> on = read_boolean(entry.value);
    if (!on) report_value(report, path + "." + entry.key, entry.value, on.error());
    gates[entry.key] = on.value_or(false);
  }
  return gates;
}

std::string did_you_mean(const std::string& capability) {
  const std::string near = nearest(capability, linux_capability_names());
  return near.empty() ? ", expected a name such as 'CAP_BPF'" : ", did you mean '" + near + "'?";
}

}  // namespace

Result<std::string> scalar_of(const Node& node, std::string_view expected) {
  if (node.kind == NodeKind::scalar) return node.text;
  return invalid("expected " + std::string(expected) + ", found " + describe(node));
}

void report_value(Report& report, const std::string& path, const Node& node, const Error& error) {
  report.add(node.place, path + ": " + error.text);
}

ValueType<std::string> any_text() {
  return scalar_type<std::string>("string", [](const Node& node) { return scalar_of(node, "a string"); });
}

ValueType<std::string> absolute_path() { return scalar_type<std::string>("absolute path", read_absolute_path); }

ValueType<std::string> absolute_path_or_empty() { return or_empty(absolute_path()); }

ValueType<std::string> socket_path_or_empty() {
  return or_empty(scalar_type<std::string>("absolute path", [](const Node& node) -> Result<std::string> {
    Result<std::string> path = read_absolute_path(node);
    constexpr std::size_t kMost = sizeof(sockaddr_un::sun_path) - 1;
    if (path && path->size() > kMost)
      return invalid("expected a path of at most " + std::to_string(kMost) + " bytes, found " +
                     std::to_string(path->size()));
    return path;
  }));
}

ValueType<std::string> granted_file() {
  return scalar_type<
      std::string>("path below proc, sys, cgroup, resctrl or run", [](const Node& node) -> Result<std::string> {
    Result<std::string> path = scalar_of(node, "a path");
    if (!path) return path;
    if (path->starts_with("proc/") && is_never_read_of_proc(std::string_view(*path).substr(5)))
      return invalid("'" + *path + "' is never read for a plugin");
    if (is_granted_path(*path)) return path;
    return invalid(
        "expected a path as 'run/acme/state.json', with proc, sys, cgroup, resctrl or run first and without '..', found " +
        describe(node));
  });
}

ValueType<std::string> granted_cgroup() {
  return scalar_type<std::string>("cgroup", [](const Node& node) -> Result<std::string> {
    Result<std::string> dir = scalar_of(node, "a cgroup");
    if (!dir || *dir == "/" || (!dir->empty() && !dir->ends_with('/') && !has_dots(*dir))) return dir;
    return invalid("expected a cgroup as 'acme.slice', relative to the root of cgroups, or '/', found " +
                   describe(node));
  });
}

ValueType<std::string> host_and_port_or_empty() {
  return or_empty(scalar_type<std::string>("host:port", read_host_and_port));
}

ValueType<std::string> address_and_port_or_empty() {
  return or_empty(scalar_type<std::string>("IP address and port", read_address_and_port), "");
}

ValueType<std::string> object_name() {
  return scalar_type<std::string>("namespace/name", [](const Node& node) -> Result<std::string> {
    const std::string text = TRY(scalar_of(node, "namespace/name"));
    const std::string_view all = text;
    const std::size_t slash = all.find('/');
    if (slash == all.npos) return invalid("expected namespace/name, found " + describe(node));
    if (!is_dns_label(all.substr(0, slash)))
      return invalid("expected namespace/name, with the namespace " + std::string(kDnsLabelRule) + ", found " +
                     describe(node));
    if (!is_dns_subdomain(all.substr(slash + 1)))
      return invalid("expected namespace/name, with the name " + std::string(kDnsSubdomainRule) + ", found " +
                     describe(node));
    return text;
  });
}

ValueType<std::string> namespace_or_empty() {
  return or_empty(name_type("name of a namespace", is_dns_label, kDnsLabelRule), "");
}

ValueType<std::string> lease_name() { return name_type("name of a Lease", is_dns_subdomain, kDnsSubdomainRule); }

ValueType<std::string> service_name_or_empty() {
  return or_empty(name_type("name of a Service", is_service_name, kServiceNameRule), " for none");
}

ValueType<std::string> sha256_or_empty() {
  return or_empty(scalar_type<std::string>("64 hexadecimal digits", read_sha256));
}

ValueType<bool> boolean() { return scalar_type<bool>("boolean", read_boolean); }

ValueType<std::uint64_t> integer(std::uint64_t least, std::uint64_t most) {
  const std::string name = "integer from " + std::to_string(least) + " to " + std::to_string(most);
  return scalar_type<std::uint64_t>(name, [=](const Node& node) -> Result<std::uint64_t> {
    const Result<std::uint64_t> value = parse_uint(TRY(scalar_of(node, "an integer")));
    if (!value || node.quoted) return invalid("expected an integer, found " + describe(node));
    if (*value < least || *value > most) return out_of_range(node, std::to_string(least), std::to_string(most));
    return *value;
  });
}

ValueType<Duration> duration(Duration least, Duration most) {
  const std::string name = "duration from " + format_duration(least) + " to " + format_duration(most);
  return scalar_type<Duration>(name, [=](const Node& node) -> Result<Duration> {
    const Result<Duration> value = parse_duration(TRY(scalar_of(node, "a duration")));
    if (!value) return invalid("expected a duration such as '250ms' or '1h30m', found " + describe(node));
    if (*value < least || *value > most) return out_of_range(node, format_duration(least), format_duration(most));
    return *value;
  });
}

ValueType<std::uint64_t> size(std::uint64_t least) {
  const std::string name = "size of at least " + std::to_string(least) + " bytes";
  return scalar_type<std::uint64_t>(name, [=](const Node& node) -> Result<std::uint64_t> {
    const Result<Quantity> quantity = Quantity::parse(TRY(scalar_of(node, "a size")));
    if (!quantity) return invalid("expected a size such as '64Mi', found " + describe(node));
    if (quantity->value() < 0 || static_cast<std::uint64_t>(quantity->value()) < least)
      return invalid(describe(node) + " is too small, expected at least " + std::to_string(least) + " bytes");
    return static_cast<std::uint64_t>(quantity->value());
  });
}

ValueType<std::uint64_t> cpu(std::uint64_t least_millis) {
  const std::string name = "number of cores, at least " + std::to_string(least_millis) + "m";
  return scalar_type<std::uint64_t>(name, [=](const Node& node) -> Result<std::uint64_t> {
    const Result<Quantity> quantity = Quantity::parse(TRY(scalar_of(node, "a number of cores")));
    if (!quantity) return invalid("expected a number of cores such as '500m' or '2', found " + describe(node));
    if (quantity->milli() < 0 || static_cast<std::uint64_t>(quantity->milli()) < least_millis)
      return invalid(describe(node) + " is too small, expected at least " + std::to_string(least_millis) + "m");
    return static_cast<std::uint64_t>(quantity->milli());
  });
}

ValueType<CapabilityMask> capabilities() {
  const std::string name = "list of capabilities";
  return {name, [=](const Node& node, const std::string& path, Report& report) -> std::optional<CapabilityMask> {
            std::optional<std::vector<std::string>> words = list_of(any_text()).read(node, path, report);
            if (!words) return std::nullopt;
            CapabilityMask mask = 0;
            for (const std::string& word : *words) {
              const std::optional<CapabilityMask> one = linux_capability(word);
              if (!one) report.add(node.place, path + ": '" + word + "' is not a Linux capability", did_you_mean(word));
              mask |= one.value_or(0);
            }
            return mask;
          }};
}

ValueType<NetworkMask> network_families() {
  const std::string name = "list of unix, tcp, udp, netlink";
  return {name, [=](const Node& node, const std::string& path, Report& report) -> std::optional<NetworkMask> {
            std::optional<std::vector<std::string>> words = list_of(any_text()).read(node, path, report);
            if (!words) return std::nullopt;
            NetworkMask mask = 0;
            for (const std::string& word : *words) {
              const std::optional<NetworkMask> one = network_family(word);
              if (!one)
                report.add(node.place, path + ": '" + word + "' is not a kind of socket",
                           ", expected unix, tcp, udp or netlink");
              mask = static_cast<NetworkMask>(mask | one.value_or(0));
            }
            return mask;
          }};
}

ValueType<std::string> hook_field() {
  return {"device or mount",
          [](const Node& node, const std::string& path, Report& report) -> std::optional<std::string> {
            std::optional<std::string> word = any_text().read(node, path, report);
            if (word && *word != "device" && *word != "mount")
              report.add(node.place, path + ": '" + *word + "' is not a field that can be granted",
                         ", expected device or mount");
            return word;
          }};
}

ValueType<std::vector<IsolationLayer>> isolation_layers() {
  const std::string name = "list of uid, landlock, seccomp, cgroup";
  return {name,
          [=](const Node& node, const std::string& path, Report& report) -> std::optional<std::vector<IsolationLayer>> {
            std::optional<std::vector<std::string>> words = list_of(any_text()).read(node, path, report);
            if (!words) return std::nullopt;
            std::vector<IsolationLayer> layers;
            for (const std::string& word : *words) {
              const auto* found = std::find_if(kIsolationLayers.begin(), kIsolationLayers.end(),
                                               [&](IsolationLayer layer) { return to_string(layer) == word; });
              if (found != kIsolationLayers.end()) {
                layers.push_back(*found);
              } else {
                report.add(node.place, path + ": '" + word + "' is not a layer",
                           ", expected uid, landlock, seccomp or cgroup");
              }
            }
            return layers;
          }};
}

ValueType<GateMap> gate_map() { return {"mapping of gates to booleans", read_gates}; }

ValueType<std::string> mapping_as_json() {
  return scalar_type<std::string>("mapping", [](const Node& node) -> Result<std::string> {
    if (node.kind != NodeKind::mapping) return invalid("expected a mapping, found " + describe(node));
    return to_json(node);
  });
}

ValueType<std::vector<std::string>> list_of(ValueType<std::string> item) {
  using Values = std::vector<std::string>;
  const std::string name = "list of " + item.name;
  return {name, [=](const Node& node, const std::string& path, Report& report) -> std::optional<Values> {
            if (node.kind != NodeKind::sequence) {
              report_value(report, path, node, invalid("expected a " + name + ", found " + describe(node)));
              return std::nullopt;
            }
            Values values;
            for (std::size_t i = 0; i < node.items.size(); ++i)
              if (auto value = item.read(node.items[i], path + "[" + std::to_string(i) + "]", report))
                values.push_back(*std::move(value));
            return values;
          }};
}

}  // namespace koord::config
