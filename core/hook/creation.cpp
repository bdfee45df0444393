// SPDX-License-Identifier: Apache-2.0
#include "core/hook/creation.hpp"

#include <algorithm>
#include <boost/json.hpp>
#include <optional>
#include <set>
#include <utility>

#include "core/base/parse.hpp"
#include "core/cgroup/names.hpp"
#include "core/decision/hands_off.hpp"
#include "core/hook/field_intents.hpp"
#include "core/host/hook_paths.hpp"
#include "core/json/field.hpp"
#include "core/json/reader.hpp"
#include "core/knob/knob.hpp"
#include "core/knob/resctrl.hpp"
#include "core/knob/subjects.hpp"
#include "core/state/classes.hpp"
#include "core/state/cpu_owners.hpp"
#include "core/state/pod_resources.hpp"

namespace koord::hook {
namespace {

constexpr std::string_view kResourcesAnnotation = "node.koordinator.sh/extended-resource-spec";
// Pods of this priority and above are system-node-critical.
constexpr std::int32_t kNodeCritical = 2000001000;
constexpr std::int64_t kPeriodOfRequest = 100000;
constexpr std::uint64_t kSharesOfRuntimes = 1024;
constexpr std::uint64_t kSharesOfCpu = 1024;

state::KubeQos kube_qos_of(std::string_view cgroup_parent) {
  if (cgroup_parent.find("besteffort") != std::string_view::npos) return state::KubeQos::best_effort;
  if (cgroup_parent.find("burstable") != std::string_view::npos) return state::KubeQos::burstable;
  return state::KubeQos::guaranteed;
}

// Returns the containers with their resources in the annotation. A pod's author writes it, so unreadable parts are left
// out.
std::vector<state::Container> containers_of(const state::StringMap& annotations) {
  std::vector<state::Container> containers;
  const auto annotation = annotations.find(kResourcesAnnotation);
  if (annotation == annotations.end()) return containers;
  const Result<boost::json::value> spec = read_json(annotation->second);
  if (!spec) return containers;
  const Result<std::vector<std::pair<std::string, JsonField>>> members = JsonField(*spec)["containers"].members();
  if (!members) return containers;
  for (const auto& [name, field] : *members) {
    Result<std::vector<state::Resource>> resources = state::read_resources(field);
    if (resources) containers.push_back({.name = name, .resources = *std::move(resources)});
  }
  return containers;
}

std::string text_of(const host::HookVerdict& verdict, std::string_view field) {
  const host::HookVerdict::Setting* setting = find_setting(verdict, field);
  return setting == nullptr ? std::string() : setting->value;
}

std::optional<std::int64_t> number_of(const host::HookVerdict& verdict, std::string_view field) {
  const Result<std::int64_t> number = parse_int(text_of(verdict, field));
  return number ? std::optional(*number) : std::nullopt;
}

// Returns the limit of memory and swap together for a new memory limit; nullopt: unchanged. The kernel refuses a memory
// limit above this limit. By default runc sets it to the memory limit, so the memory limit could not be raised later.
std::optional<std::int64_t> swap_beside(std::int64_t limit, std::optional<std::int64_t> requested_swap) {
  if (requested_swap.value_or(-1) <= 0) return -1;
  const bool is_above = limit < 0 || limit > *requested_swap;
  return is_above ? std::optional(limit) : std::nullopt;
}

// Returns the amount; -1: no limit.
std::int64_t limit_of(const knob::Value& value) { return value.amount == knob::kUnlimited ? -1 : value.amount; }

// Raises the limit of memory and swap to the memory limit, because different hooks may set the two.
std::int64_t at_least_limit(std::int64_t swap, std::int64_t limit) {
  return limit < 0 ? -1 : swap < 0 ? swap : std::max(swap, limit);
}

std::string limit_text(std::optional<std::int64_t> limit) {
  return limit.value_or(-1) <= 0 ? "max" : std::to_string(*limit);
}

// Returns the value in the runtime's request in the form of an intent; nullopt: unset.
std::optional<std::string> requested_text(std::string_view field, const nri::Resources& requested) {
  const auto set = [](const std::string& text) { return text.empty() ? std::nullopt : std::optional(text); };
  if (field == "linux.cpuset.cpus") return set(requested.cpus);
  if (field == "linux.cpuset.mems") return set(requested.mems);
  if (field == "linux.cpu.shares" && requested.cpu_shares) return std::to_string(*requested.cpu_shares);
  if (field == "linux.memory.limit" && requested.memory_limit_bytes) return limit_text(requested.memory_limit_bytes);
  if (field == "linux.cpu.quota" && requested.cpu_quota_us)
    return limit_text(requested.cpu_quota_us) + " " +
           std::to_string(requested.cpu_period_us.value_or(kPeriodOfRequest));
  return std::nullopt;
}

// Sets the quota. If the request has the same period, only the quota is changed.
void set_quota(nri::Resources& resources, const host::HookVerdict& verdict, const knob::Value& quota,
               const nri::Resources& requested) {
  resources.cpu_quota_us = limit_of(quota);
  const bool is_unlimited = quota.amount == knob::kUnlimited;
  const std::int64_t of_hook = number_of(verdict, "linux.cpu.period").value_or(kPeriodOfRequest);
  const auto period = static_cast<std::uint64_t>(is_unlimited ? of_hook : quota.period_us);
  const bool is_of_request = period == requested.cpu_period_us.value_or(kPeriodOfRequest);
  if (find_setting(verdict, "linux.cpu.quota") != nullptr || (!is_of_request && !is_unlimited))
    resources.cpu_period_us = period;
}

// Adds a device. Its text is valid, because it was checked when the hook set it.
void add_device(nri::Adjustment& adjustment, std::string_view field, std::string_view value) {
  if (const Result<host::HookDevice> device = host::parse_hook_device(field, value))
    adjustment.devices.push_back({.path = device->path,
                                  .type = std::string(1, device->type),
                                  .major = device->major,
                                  .minor = device->minor,
                                  .file_mode = device->mode});
}

void add_mount(nri::Adjustment& adjustment, std::string_view field, std::string_view value) {
  if (const Result<host::HookMount> mount = host::parse_hook_mount(field, value))
    adjustment.mounts.push_back({.destination = mount->target,
                                 .type = "bind",
                                 .source = mount->source,
                                 .options = {"rbind", mount->is_read_only ? "ro" : "rw"}});
}

// Returns the members of CRI's resources in JSON, without unset values.
boost::json::object resources_json(const nri::Resources& resources) {
  boost::json::object json;
  if (resources.cpu_shares) json["cpu_shares"] = *resources.cpu_shares;
  if (resources.cpu_quota_us) json["cpu_quota"] = *resources.cpu_quota_us;
  if (resources.cpu_period_us) json["cpu_period"] = *resources.cpu_period_us;
  if (!resources.cpus.empty()) json["cpuset_cpus"] = resources.cpus;
  if (!resources.mems.empty()) json["cpuset_mems"] = resources.mems;
  if (resources.memory_limit_bytes) json["memory_limit_in_bytes"] = *resources.memory_limit_bytes;
  if (resources.memory_swap_bytes) json["memory_swap_limit_in_bytes"] = *resources.memory_swap_bytes;
  return json;
}

// Returns the first plugin that changes the field; empty: no plugin.
std::string changed_by(const host::HookVerdict& verdict, std::string_view field) {
  if (const host::HookVerdict::Setting* setting = find_setting(verdict, field)) return setting->plugin;
  for (const host::HookVerdict::Scale& scale : verdict.scales)
    if (scale.field == field) return scale.plugin;
  return {};
}

// Returns whether the resctrl group has the agent's prefix. The agent's strategy makes and empties such a group, and a
// container leaves it only at its end.
bool is_own_group(const host::HookVerdict& verdict) {
  return text_of(verdict, "linux.rdt.closid").starts_with(knob::Resctrl::kOwnPrefix);
}

decision::HandsOff hands_off_of(const state::Pod& pod) {
  const auto annotation = pod.annotations.find(decision::kHandsOffAnnotation);
  return annotation == pod.annotations.end() ? decision::HandsOff() : decision::parse_hands_off(annotation->second);
}

// Expands the name of a systemd slice: "a-b-c.slice" is in "a-b.slice", which is in "a.slice". Returns "" if the path
// is too long for the kernel.
std::string expand_slice(std::string_view slice) {
  constexpr std::size_t kMostPath = 4096;
  std::string path;
  const std::string_view name = slice.substr(0, slice.size() - std::string_view(".slice").size());
  for (std::size_t dash = name.find('-'); dash != std::string_view::npos; dash = name.find('-', dash + 1))
    if (path.append(name.substr(0, dash)).append(".slice/").size() > kMostPath) return {};
  return path + std::string(slice);
}

bool is_throttling_in_shadow(const host::HookVerdict::Setting& setting) {
  constexpr std::string_view kTimes = "× ";
  if (!setting.value.starts_with(kTimes)) return false;
  const Result<double> factor = parse_double(std::string_view(setting.value).substr(kTimes.size()));
  return factor && is_throttling(setting.field, *factor);
}

}  // namespace

state::Pod pod_of(const nri::Pod& pod, const state::Snapshot& snapshot) {
  for (const state::Pod& known : snapshot.pods)
    if (known.uid == pod.uid) return known;
  state::Pod unknown;
  unknown.uid = pod.uid;
  unknown.namespace_ = pod.namespace_name;
  unknown.name = pod.name;
  unknown.labels = pod.labels;
  unknown.annotations = pod.annotations;
  unknown.kube_qos = kube_qos_of(pod.cgroup_parent);
  unknown.koord_qos = state::koord_qos(unknown.labels, unknown.kube_qos);
  unknown.priority_class = state::priority_class(unknown.labels, 0, unknown.koord_qos);
  unknown.phase = state::Phase::pending;
  unknown.cgroup_dir = pod.cgroup_parent.ends_with(".slice")
                           ? cgroup_dir_of(expand_slice(pod.cgroup_parent.substr(pod.cgroup_parent.rfind('/') + 1)))
                           : cgroup_dir_of(pod.cgroup_parent);
  unknown.containers = containers_of(unknown.annotations);
  unknown.resources = state::sum_resources(unknown.containers);
  return unknown;
}

state::Container container_of(const nri::Container& container, const state::Pod& pod) {
  state::Container found;
  for (const state::Container& known : pod.containers)
    if (known.name == container.name) found = known;
  found.id = container.id;
  found.name = container.name;
  found.cgroup_dir = cgroup_dir_of(container.cgroups_path);
  return found;
}

std::string cgroup_dir_of(std::string_view cgroups_path) {
  const std::size_t prefix = cgroups_path.find(':');
  if (prefix == std::string_view::npos) {
    while (cgroups_path.starts_with('/')) cgroups_path.remove_prefix(1);
    return cgroup::is_cgroup(cgroups_path) ? std::string(cgroups_path) : std::string();
  }
  const std::string_view slice = cgroups_path.substr(0, prefix);
  const std::size_t id = cgroups_path.find(':', prefix + 1);
  if (!slice.ends_with(".slice") || id == std::string_view::npos || cgroups_path.find('/') != std::string_view::npos)
    return {};
  const std::string parent = expand_slice(slice);
  if (parent.empty()) return {};
  const std::string path = parent + "/" + std::string(cgroups_path.substr(prefix + 1, id - prefix - 1)) + "-" +
                           std::string(cgroups_path.substr(id + 1)) + ".scope";
  return cgroup::is_cgroup(path) ? path : std::string();
}

std::string new_cgroup_of(const state::Pod& pod) { return pod.cgroup_dir.empty() ? "" : pod.cgroup_dir + "/new"; }

std::string why_bypassed(const state::Pod& pod, std::string_view own_uid) {
  if (!own_uid.empty() && pod.uid == own_uid) return "it is the agent's own pod";
  if (pod.priority >= kNodeCritical) return "its priority is system-node-critical";
  if (hands_off_of(pod).all) return "it has the annotation " + std::string(decision::kHandsOffAnnotation);
  return {};
}

bool is_hands_off(const state::Pod& pod, const std::string& plugin) {
  const decision::HandsOff hands_off = hands_off_of(pod);
  return hands_off.all || std::find(hands_off.names.begin(), hands_off.names.end(), plugin) != hands_off.names.end();
}

void drop_hands_off(host::HookVerdict& verdict, const state::Pod& pod) {
  const decision::HandsOff hands_off = hands_off_of(pod);
  const auto is_covered = [&](const auto& one) {
    const knob::Knob* knob = knob::find_knob(knob_of(one.field));
    if (knob != nullptr) return knob::covers(hands_off, *knob, one.plugin);
    return std::find(hands_off.names.begin(), hands_off.names.end(), one.plugin) != hands_off.names.end();
  };
  std::erase_if(verdict.settings, is_covered);
  std::erase_if(verdict.agreed, is_covered);
  std::erase_if(verdict.conflicts, is_covered);
  std::erase_if(verdict.scales, is_covered);
}

bool has_own_cpus(const state::Snapshot& snapshot, const state::Pod& pod, state::Container container,
                  const nri::Resources& requested) {
  const std::uint64_t shares = requested.cpu_shares.value_or(0);
  const bool is_whole = shares > 0 && shares % kSharesOfCpu == 0;
  if (container.resources.empty() && is_whole)
    container.resources = {{"cpu", static_cast<std::int64_t>(shares / kSharesOfCpu) * 1000}};
  return state::has_own_cpus(snapshot, pod, container);
}

void drop_throttling(host::HookVerdict& verdict) {
  std::erase_if(verdict.scales,
                [](const host::HookVerdict::Scale& one) { return is_throttling(one.field, one.factor); });
  std::erase_if(verdict.in_shadow, is_throttling_in_shadow);
}

nri::Resources resources_of(const host::HookVerdict& verdict, const nri::Resources& requested, bool is_v2,
                            const OtherPartsOf& others) {
  nri::Resources resources;
  const auto value_of = [&](std::string_view field) {
    return compose_field(verdict, field, requested_text(field, requested), others);
  };
  if (const auto shares = value_of("linux.cpu.shares"))
    resources.cpu_shares = static_cast<std::uint64_t>(shares->amount);
  if (const auto quota = value_of("linux.cpu.quota")) set_quota(resources, verdict, *quota, requested);
  if (const auto cpus = value_of("linux.cpuset.cpus")) resources.cpus = cpus->set.list();
  if (const auto mems = value_of("linux.cpuset.mems")) resources.mems = mems->set.list();
  if (const auto limit = value_of("linux.memory.limit")) resources.memory_limit_bytes = limit_of(*limit);
  resources.memory_swap_bytes = number_of(verdict, "linux.memory.swap");
  if (resources.memory_limit_bytes)
    resources.memory_swap_bytes = resources.memory_swap_bytes
                                      ? at_least_limit(*resources.memory_swap_bytes, *resources.memory_limit_bytes)
                                      : swap_beside(*resources.memory_limit_bytes, requested.memory_swap_bytes);
  if (const std::string group = text_of(verdict, "linux.rdt.closid"); !group.empty()) resources.rdt_class = group;
  if (const std::string idle = text_of(verdict, "linux.cpu.idle"); is_v2 && !idle.empty())
    resources.unified.emplace("cpu.idle", idle);
  return resources;
}

nri::Adjustment adjustment_of(const host::HookVerdict& verdict, const nri::Container& container, bool is_v2,
                              const OtherPartsOf& others) {
  nri::Adjustment adjustment;
  adjustment.resources = resources_of(verdict, container.resources, is_v2, others);
  adjustment.oom_score_adj = number_of(verdict, "linux.oom_score_adj");
  for (const host::HookVerdict::Setting& setting : verdict.settings) {
    const std::string_view field = setting.field;
    if (field.starts_with(host::kDeviceField)) add_device(adjustment, field, setting.value);
    if (field.starts_with(host::kMountField)) add_mount(adjustment, field, setting.value);
    if (field.starts_with("env:")) adjustment.env.emplace_back(field.substr(4), setting.value);
    if (field.starts_with("annotation:")) adjustment.annotations.emplace(field.substr(11), setting.value);
  }
  return adjustment;
}

std::string cri_json_of(const nri::Pod& pod) {
  return boost::json::serialize(
      boost::json::object{{"metadata", {{"name", pod.name}, {"namespace", pod.namespace_name}, {"uid", pod.uid}}},
                          {"linux", {{"cgroup_parent", pod.cgroup_parent}}}});
}

std::string cri_json_of(const nri::Container& container) {
  return boost::json::serialize(
      boost::json::object{{"metadata", {{"name", container.name}}},
                          {"linux", boost::json::object{{"resources", resources_json(container.resources)}}}});
}

std::vector<Unadjusted> unadjusted_of(const host::HookVerdict& verdict, const nri::Container& container) {
  nri::Resources plain = container.resources;
  plain.cpu_shares = plain.cpu_shares.value_or(kSharesOfRuntimes);
  plain.cpu_quota_us = plain.cpu_quota_us.value_or(-1);
  plain.memory_limit_bytes = plain.memory_limit_bytes.value_or(-1);
  std::vector<Unadjusted> values;
  const auto add = [&](std::string_view field, std::optional<std::string> value) {
    std::string plugin = changed_by(verdict, field);
    if (!plugin.empty() && value) values.push_back({std::string(knob_of(field)), *std::move(value), std::move(plugin)});
  };
  for (const std::string_view field : {"linux.cpu.shares", "linux.cpu.quota", "linux.memory.limit"})
    add(field, requested_text(field, plain));
  add("linux.cpuset.cpus", plain.cpus);
  add("linux.cpuset.mems", plain.mems);
  const auto idle = plain.unified.find("cpu.idle");
  add("linux.cpu.idle", (idle == plain.unified.end() ? "0" : idle->second) + " " + std::to_string(*plain.cpu_shares));
  add("linux.oom_score_adj", std::to_string(container.oom_score_adj.value_or(0)));
  if (!is_own_group(verdict)) add("linux.rdt.closid", plain.rdt_class.value_or("/"));
  return values;
}

CreationRecord record_of(const host::HookVerdict& verdict, const std::string& pod_uid,
                         const nri::Container& container) {
  host::HookSettings set;
  for (const host::HookVerdict::Setting& setting : verdict.settings) set.fields.emplace_back(setting.field, "");
  return {.pod_uid = pod_uid,
          .container = container.name,
          .id = container.id,
          .before_id = {},
          .cgroup_dir = cgroup_dir_of(container.cgroups_path),
          .unadjusted = unadjusted_of(verdict, container),
          .fields = creation_fields(set)};
}

}  // namespace koord::hook
