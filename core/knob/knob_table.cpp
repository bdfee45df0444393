// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iterator>

#include "core/base/parse.hpp"
#include "core/knob/knob.hpp"
#include "core/knob/resctrl.hpp"

namespace koord::knob {
namespace {

using cgroup::Controller;

// Limits of the kernel: sched_group_set_shares, cpu.weight.
constexpr std::int64_t kLeastShares = 2, kMostShares = 262144;
constexpr std::int64_t kMostWeight = 10000;
constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kMostClass = std::numeric_limits<std::uint32_t>::max();
constexpr std::int64_t kMostInt = std::numeric_limits<std::int32_t>::max();

// Columns: name, resource, place, controller, form, v2, v1, range, large is strict. Knobs of only some kernels are at
// the end of each block.
// clang-format off
constexpr Knob kKnobs[] = {
    {"cpu.max", "cpu.max", Place::cgroup, Controller::cpu, Form::bandwidth, "cpu.max", {"cpu.cfs_quota_us", "cpu.cfs_period_us"}},
    {"cpu.max.burst", "cpu.max.burst", Place::cgroup, Controller::cpu, Form::number, "cpu.max.burst", {"cpu.cfs_burst_us"}},
    {"cpu.shares", "cpu.weight", Place::cgroup, Controller::cpu, Form::shares, "cpu.weight", {"cpu.shares"}, kLeastShares, kMostShares},
    {"cpu.weight", "cpu.weight", Place::cgroup, Controller::cpu, Form::cpu_weight, "cpu.weight", {"cpu.shares"}, 1, kMostWeight},
    {"cpu.idle", "cpu.idle", Place::cgroup, Controller::cpu, Form::idle, "cpu.idle", {"cpu.idle", "cpu.shares"}, 0, 1, true},
    {"cpu.bvt_warp_ns", "cpu.bvt_warp_ns", Place::cgroup, Controller::cpu, Form::number, "cpu.bvt_warp_ns", {"cpu.bvt_warp_ns"}, -1, 2},
    {"cpuset.cpus", "cpuset.cpus", Place::cgroup, Controller::cpuset, Form::set, "cpuset.cpus", {"cpuset.cpus"}},
    {"cpuset.mems", "cpuset.mems", Place::cgroup, Controller::cpuset, Form::set, "cpuset.mems", {"cpuset.mems"}},

    {"memory.min", "memory.min", Place::cgroup, Controller::memory, Form::amount, "memory.min", {"memory.min"}, 0, kMost, true},
    {"memory.low", "memory.low", Place::cgroup, Controller::memory, Form::amount, "memory.low", {"memory.low"}, 0, kMost, true},
    {"memory.high", "memory.high", Place::cgroup, Controller::memory, Form::amount, "memory.high", {"memory.high"}},
    {"memory.max", "memory.max", Place::cgroup, Controller::memory, Form::amount, "memory.max", {"memory.limit_in_bytes"}},
    {"memory.swap.max", "memory.swap.max", Place::cgroup, Controller::memory, Form::amount, "memory.swap.max", {}},
    {"memory.oom.group", "memory.oom.group", Place::cgroup, Controller::memory, Form::number, "memory.oom.group", {"memory.oom.group"}, 0, 1, true},
    {"memory.reclaim", "memory.reclaim", Place::cgroup, Controller::memory, Form::number, "memory.reclaim", {}, 1, kMost, true, true},
    {"memory.priority", "memory.priority", Place::cgroup, Controller::memory, Form::number, "memory.priority", {"memory.priority"}, 0, 12},
    {"memory.use_priority_oom", "memory.use_priority_oom", Place::cgroup, Controller::memory, Form::number, "memory.use_priority_oom",
     {"memory.use_priority_oom"}, 0, 1, true},
    {"memory.wmark_ratio", "memory.wmark_ratio", Place::cgroup, Controller::memory, Form::number, "memory.wmark_ratio",
     {"memory.wmark_ratio"}, 0, 100},
    {"memory.wmark_scale_factor", "memory.wmark_scale_factor", Place::cgroup, Controller::memory, Form::number, "memory.wmark_scale_factor",
     {"memory.wmark_scale_factor"}, 1, 1000, true},
    {"memory.wmark_min_adj", "memory.wmark_min_adj", Place::cgroup, Controller::memory, Form::number, "memory.wmark_min_adj",
     {"memory.wmark_min_adj"}, -25, 50, true},
    {"memory.pagecache_limit.enable", "memory.pagecache_limit.enable", Place::cgroup, Controller::memory, Form::number,
     "memory.pagecache_limit.enable", {"memory.pagecache_limit.enable"}, 0, 1, true},
    {"memory.pagecache_limit.size", "memory.pagecache_limit.size", Place::cgroup, Controller::memory, Form::number,
     "memory.pagecache_limit.size", {"memory.pagecache_limit.size"}},
    {"memory.pagecache_limit.sync", "memory.pagecache_limit.sync", Place::cgroup, Controller::memory, Form::number,
     "memory.pagecache_limit.sync", {"memory.pagecache_limit.sync"}, 0, 1, true},

    {"pids.max", "pids.max", Place::cgroup, Controller::pids, Form::amount, "pids.max", {"pids.max"}},

    {"net_cls.classid", "net_cls.classid", Place::cgroup, Controller::net_cls, Form::number, {}, {"net_cls.classid"}, 0, kMostClass},

    {"io.max", "io.max", Place::cgroup, Controller::blkio, Form::fields, "io.max",
     {"blkio.throttle.read_bps_device", "blkio.throttle.write_bps_device", "blkio.throttle.read_iops_device", "blkio.throttle.write_iops_device"}},
    {"io.weight", "io.weight", Place::cgroup, Controller::blkio, Form::weight, "io.weight", {"blkio.cost.weight"}, 1, kMostWeight},
    {"io.latency", "io.latency", Place::cgroup, Controller::blkio, Form::fields, "io.latency", {}, 0, kMost, true},
    {"io.cost.qos", "io.cost.qos", Place::root_cgroup, Controller::blkio, Form::fields, "io.cost.qos", {"blkio.cost.qos"}},
    {"io.cost.model", "io.cost.model", Place::root_cgroup, Controller::blkio, Form::fields, "io.cost.model", {"blkio.cost.model"}},

    {"vm.min_free_kbytes", "vm.min_free_kbytes", Place::proc, {}, Form::number, "sys/vm/min_free_kbytes", {}, 1, kMostInt, true},
    {"vm.watermark_scale_factor", "vm.watermark_scale_factor", Place::proc, {}, Form::number, "sys/vm/watermark_scale_factor", {}, 1, 3000, true},
    {"kernel.sched_group_identity_enabled", "kernel.sched_group_identity_enabled", Place::proc, {}, Form::number,
     "sys/kernel/sched_group_identity_enabled", {}, 0, 1, true},
    {"kernel.sched_idle_saver_wmark", "kernel.sched_idle_saver_wmark", Place::proc, {}, Form::number, "sys/kernel/sched_idle_saver_wmark", {}},
    {"memcg_reaper.reap_background", "memcg_reaper.reap_background", Place::sys, {}, Form::number,
     "kernel/mm/memcg_reaper/reap_background", {}, 0, 1, true},
    {"pagecache_limit.enabled", "pagecache_limit.enabled", Place::sys, {}, Form::number, "kernel/mm/pagecache_limit/enabled", {}, 0, 1, true},
    // Before Linux 5.13 the file is kernel/debug/sched_features.
    {"sched_features", "sched_features", Place::sys, {}, Form::feature, "kernel/debug/sched/features", {}},

    {"resctrl.l3", "resctrl.l3", Place::schemata, {}, Form::masks, "L3", {}},
    {"resctrl.mb", "resctrl.mb", Place::schemata, {}, Form::amounts, "MB", {}, 1, kMostInt},
    {"resctrl.group", "resctrl.group", Place::resctrl_tasks, Controller::cpu, Form::group, "tasks", {"tasks"}},
    {"oom_score_adj", "oom_score_adj", Place::processes, {}, Form::score, "oom_score_adj", {}, -1000, 1000, true},
    {"core_sched.group", "core_sched.group", Place::processes, {}, Form::core_group, "core_sched", {}},
    {"tc.classes", "tc.classes", Place::interface, {}, Form::traffic, "htb", {}},
    {"resctrl.made", "resctrl.made", Place::resctrl_group, {}, Form::number, "made", {}, 0, 1},
    {"resctrl.remove", "resctrl.remove", Place::resctrl_group, {}, Form::number, "remove", {}, 1, 1, true, true},
};
// clang-format on

Error out_of_place(const Knob& knob, std::string_view expected) {
  return invalid("'" + std::string(knob.name) + "' is " + std::string(expected));
}

bool is_group_name(std::string_view name) {
  const bool is_kernels = name == "info" || name == "mon_groups" || name == "mon_data";
  return !is_kernels && name.size() <= 255 && name.find_first_of("/\n") == std::string_view::npos;
}

// The rules of dev_valid_name() of Linux.
bool is_interface_name(std::string_view name) {
  const bool is_text = std::none_of(name.begin(), name.end(), [](unsigned char c) { return c <= 0x20 || c == 0x7f; });
  return is_text && !name.empty() && name.size() < 16 && name != "." && name != ".." &&
         name.find_first_of("/:") == std::string_view::npos;
}

}  // namespace

std::span<const Knob> all_knobs() { return kKnobs; }

const Knob* find_knob(std::string_view name) {
  const auto* found = std::find_if(std::begin(kKnobs), std::end(kKnobs), [&](const Knob& k) { return k.name == name; });
  return found == std::end(kKnobs) ? nullptr : found;
}

Result<const Knob*> knob_named(std::string_view name) {
  if (const Knob* knob = find_knob(name)) return knob;
  std::vector<std::string> names;
  for (const Knob& known : kKnobs) names.emplace_back(known.name);
  const std::string near = nearest(name, names);
  return invalid("'" + std::string(name) + "' is not a knob" + (near.empty() ? "" : ", did you mean '" + near + "'?"));
}

Result<void> check_place(const Knob& knob, decision::Level level, std::string_view cgroup_dir) {
  switch (knob.place) {
    case Place::cgroup:
      if (level == decision::Level::node) return out_of_place(knob, "a knob of a cgroup: the level is not the node");
      break;
    case Place::root_cgroup:
      if (!cgroup_dir.empty()) return out_of_place(knob, "a knob of the root cgroup: cgroup_dir is to be empty");
      break;
    case Place::proc:
    case Place::sys:
      if (level != decision::Level::node || !cgroup_dir.empty())
        return out_of_place(knob, "a knob of the node: the level is to be the node, and cgroup_dir empty");
      break;
    case Place::schemata:
      if (level != decision::Level::node || !is_group_name(cgroup_dir))
        return out_of_place(
            knob, "a knob of a resctrl group: the level is to be the node, and cgroup_dir the name of the group");
      break;
    case Place::resctrl_tasks:
      if (level != decision::Level::pod && level != decision::Level::container)
        return out_of_place(knob, "a knob of a pod or container: the level is to be one of these");
      break;
    case Place::processes:
      if (level != decision::Level::container)
        return out_of_place(knob, "a knob of a container: the level is to be the container");
      break;
    case Place::interface:
      if (level != decision::Level::node || !is_interface_name(cgroup_dir))
        return out_of_place(
            knob,
            "a knob of a network interface: the level is to be the node, and cgroup_dir the name of the interface");
      break;
    case Place::resctrl_group:
      if (knob.is_one_shot && level == decision::Level::node && is_group_name(cgroup_dir) &&
          cgroup_dir.starts_with(Resctrl::kOwnPrefix))
        break;
      if (knob.is_one_shot)
        return out_of_place(
            knob,
            "a one-shot on a resctrl group: the level must be the node, and cgroup_dir a name that begins with '" +
                std::string(Resctrl::kOwnPrefix) + "'");
      return out_of_place(knob, "made by the host for a group that another knob names");
  }
  return {};
}

}  // namespace koord::knob
