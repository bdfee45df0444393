// SPDX-License-Identifier: Apache-2.0
#include "core/ctl/state_view.hpp"

#include <fmt/core.h>

#include "core/base/parse.hpp"
#include "core/ctl/format.hpp"
#include "core/ctl/json_view.hpp"
#include "core/ctl/table.hpp"

namespace koord::ctl {
namespace {

// Returns "12 pods from the kubelet, as of 3s ago", and problems.
std::string banner(const json::value& state, std::size_t pods) {
  const auto age = json_number(json_mapping(state, "ageSeconds"), "pods");
  const std::string source = json_text(state, "source");
  std::string text = fmt::format("{} pods from: {}, ", pods, text_or_dash(source));
  text += age ? "as of " + format_age(age) + " ago\n" : "which were never known\n";
  const std::string problem = json_text(state, "problem");
  return problem.empty() ? text : text + problem + "\n";
}

std::string priority_of(const json::value& pod) {
  const std::string name = json_text(pod, "priorityClass");
  return name.empty() ? "-" : name;
}

// Counts running containers, without sandbox and init containers.
std::string containers_of(const json::value& pod) {
  std::size_t all = 0, running = 0;
  for (const json::value& container : json_list(pod, "containers")) {
    const std::string kind = json_text(container, "kind");
    if (kind == "sandbox" || kind == "init") continue;
    ++all;
    running += json_text(container, "state") == "running";
  }
  return fmt::format("{}/{}", running, all);
}

std::string phase_of(const json::value& pod) {
  return json_flag(pod, "deleting") ? "Terminating" : text_or_dash(json_text(pod, "phase"));
}

std::vector<std::string> pod_row(const json::value& pod, std::optional<double> now) {
  const auto start = json_number(pod, "startTime");
  const std::optional<double> age = now && start ? std::optional(*now - *start) : std::nullopt;
  return {text_or_dash(json_text(pod, "namespace")),
          json_text(pod, "name"),
          text_or_dash(json_text(pod, "qosClass")),
          priority_of(pod),
          phase_of(pod),
          format_age(age),
          containers_of(pod),
          text_or_dash(json_text(pod, "cgroup"))};
}

// Returns amounts by name: CPU in milli-cores, memory in bytes.
std::string amounts(const json::value& object) {
  std::vector<std::string> parts;
  if (object.is_object()) {
    for (const auto& [name, value] : object.as_object()) {
      const std::string_view key = name;
      const double amount = value.is_number() ? value.to_number<double>() : 0;
      const bool memory = key.ends_with("memory") || key.ends_with("storage") || key.starts_with("hugepages");
      const bool cpu = key == "cpu" || key.ends_with("-cpu");
      parts.push_back(std::string(key) + " " +
                      (memory ? format_bytes(amount) : format_number(cpu ? amount / 1000 : amount)));
    }
  }
  return text_or_dash(join(parts, ", "));
}

std::string words(const json::value& object) {
  std::vector<std::string> parts;
  if (object.is_object()) {
    for (const auto& [name, value] : object.as_object())
      parts.push_back(std::string(name) + "=" +
                      (value.is_string() ? std::string(value.as_string()) : json::serialize(value)));
  }
  return text_or_dash(join(parts, ", "));
}

std::string addresses_of(const json::value& node) {
  std::vector<std::string> parts;
  for (const json::value& address : json_list(node, "addresses"))
    parts.push_back(json_text(address, "type") + " " + json_text(address, "address"));
  return text_or_dash(join(parts, ", "));
}

std::string objects_of(const json::value& node) {
  std::vector<std::string> parts;
  const json::value& objects = json_mapping(node, "objects");
  for (const auto& [kind, there] : objects.as_object())
    parts.push_back(std::string(kind) + (there.is_bool() && there.as_bool() ? "" : " (none)"));
  return text_or_dash(join(parts, ", "));
}

std::string ages_of(const json::value& state) {
  std::vector<std::string> parts;
  for (const char* part : {"node", "pods", "nodeSLO", "topology"}) {
    const auto age = json_number(json_mapping(state, "ageSeconds"), part);
    parts.push_back(std::string(part) + " " + (age ? format_age(age) : "never"));
  }
  return join(parts, ", ");
}

// Adds the reserved CPUs with their owners, and the values that could not be parsed.
void add_cpu_owners(Table& table, const json::value& node) {
  const json::value& owners = json_mapping(node, "cpuOwners");
  const char* const kOwners[][2] = {{"reserved", "reserved"},
                                    {"system", json_flag(owners, "systemExclusive") ? "SYSTEM alone" : "SYSTEM"},
                                    {"lse", "LSE"},
                                    {"lsr", "LSR"},
                                    {"pinned", "other pods"}};
  std::vector<std::string> parts;
  for (const auto& [key, name] : kOwners) {
    const std::string cpus = json_text(owners, key);
    if (!cpus.empty()) parts.push_back(std::string(name) + " " + cpus);
  }
  table.add({"CPUs set apart", text_or_dash(join(parts, ", "))});
  for (const json::value& problem : json_list(owners, "problems"))
    if (problem.is_string()) table.add({"problem", std::string(problem.get_string())});
}

void add_kubelet(Table& table, const json::value& node) {
  const std::string problem = json_text(node, "kubeletProblem");
  if (!json_member(node, "kubelet"))
    return table.add({"kubelet", "its configuration is unknown" + (problem.empty() ? "" : ": " + problem)});
  const json::value& kubelet = json_mapping(node, "kubelet");
  table.add({"kubelet cgroups", text_or_dash(json_text(kubelet, "cgroupDriver")) + ", root " +
                                    text_or_dash(json_text(kubelet, "cgroupRoot"))});
  table.add({"kubelet CPU manager", text_or_dash(json_text(kubelet, "cpuManagerPolicy")) + ", options " +
                                        words(json_mapping(kubelet, "cpuManagerPolicyOptions")) + ", reserved CPUs " +
                                        text_or_dash(json_text(kubelet, "reservedSystemCPUs"))});
  table.add({"kubelet topology", text_or_dash(json_text(kubelet, "topologyManagerPolicy")) + ", scope " +
                                     text_or_dash(json_text(kubelet, "topologyManagerScope"))});
  table.add({"kubelet reserved", "system " + amounts(json_mapping(kubelet, "systemReserved")) + "; kubelet " +
                                     amounts(json_mapping(kubelet, "kubeReserved"))});
}

}  // namespace

std::string format_age(std::optional<double> seconds) {
  if (!seconds) return "-";
  const double value = *seconds < 0 ? 0 : *seconds;
  if (value < 120) return fmt::format("{:.0f}s", value);
  if (value < 2 * 3600) return fmt::format("{:.0f}m", value / 60);
  if (value < 2 * 86400) return fmt::format("{:.0f}h", value / 3600);
  return fmt::format("{:.0f}d", value / 86400);
}

Result<std::string> pods_text(const std::string& answer) {
  const json::value all = TRY(parse_object(answer));
  Table table(
      {{"NAMESPACE"}, {"NAME"}, {"QOS"}, {"CLASS"}, {"PHASE"}, {"AGE", true}, {"CONTAINERS", true}, {"CGROUP"}});
  for (const json::value& pod : json_list(all, "pods")) table.add(pod_row(pod, json_number(all, "time")));
  return banner(json_mapping(all, "state"), json_list(all, "pods").size()) + table.render();
}

Result<std::string> node_text(const std::string& answer) {
  const json::value node = TRY(parse_object(answer));
  const json::value& state = json_mapping(node, "state");
  Table table({{"NODE"}, {json_text(node, "name")}});
  table.add({"uid", text_or_dash(json_text(node, "uid"))});
  table.add({"agent", json_text(node, "version")});
  table.add({"pods", format_number(json_number(node, "pods")) + " from: " + text_or_dash(json_text(state, "source"))});
  table.add({"known since", ages_of(state)});
  if (const std::string problem = json_text(state, "problem"); !problem.empty()) table.add({"problem", problem});
  table.add({"addresses", addresses_of(node)});
  table.add({"capacity", amounts(json_mapping(node, "capacity"))});
  table.add({"allocatable", amounts(json_mapping(node, "allocatable"))});
  table.add({"labels", words(json_mapping(node, "labels"))});
  table.add({"cgroups", text_or_dash(json_text(node, "cgroupHierarchy"))});
  table.add({"CPUs", format_number(static_cast<double>(json_list(node, "cpus").size()))});
  add_cpu_owners(table, node);
  table.add({"memory", format_bytes(json_number(node, "memoryBytes"))});
  add_kubelet(table, node);
  table.add({"objects", objects_of(node)});
  return table.render();
}

}  // namespace koord::ctl
