// SPDX-License-Identifier: Apache-2.0
#include "core/service/capability_probes.hpp"

#include <unistd.h>

#include "core/base/file.hpp"
#include "core/base/parse.hpp"
#include "core/service/kernel_probes.hpp"

namespace koord::service {
namespace {

struct Node {
  const NodeRoots& roots;
  const cgroup::Layout& layout;
};

bool exists(const std::string& path) { return ::access(path.c_str(), F_OK) == 0; }

Finding readable(const std::string& path, const std::string& when_missing) {
  Result<std::string> content = read_file(path);
  if (content) return supported(path);
  if (content.error().is(std::errc::no_such_file_or_directory)) return absent(when_missing);
  return broken(content.error().message());
}

Finding cgroup_hierarchy(const Node& node) {
  bool any = false;
  for (std::size_t i = 0; i < cgroup::kControllers; ++i)
    any = any || node.layout.version(static_cast<cgroup::Controller>(i)).has_value();
  if (!any) return broken("no cgroup hierarchy at '" + node.roots.cgroup + "'");
  return supported(std::string(name_of(node.layout.hierarchy())));
}

Finding cgroup_v2(const Node& node) {
  const std::string unified = node.layout.unified_directory("");
  return unified.empty() ? absent("no unified hierarchy is mounted") : supported(unified);
}

Finding controller(const Node& node, cgroup::Controller wanted) {
  const std::optional<cgroup::Version> version = node.layout.version(wanted);
  if (!version) return absent("no " + std::string(name_of(wanted)) + " controller");
  return supported(*version == cgroup::Version::v2 ? "v2" : "v1");
}

Finding cpu_cgroup(const Node& node) { return controller(node, cgroup::Controller::cpu); }
Finding cpuset_cgroup(const Node& node) { return controller(node, cgroup::Controller::cpuset); }
Finding memory_cgroup(const Node& node) { return controller(node, cgroup::Controller::memory); }
Finding blkio_cgroup(const Node& node) { return controller(node, cgroup::Controller::blkio); }

// If PSI is disabled by psi=0 or CONFIG_PSI_DEFAULT_DISABLED, older kernels have the files but return EOPNOTSUPP on
// read. Newer kernels do not create the files.
Finding psi(const Node& node) {
  Result<std::string> pressure = read_file(node.roots.proc + "/pressure/cpu");
  if (pressure) return supported("/proc/pressure");
  if (pressure.error().is(std::errc::no_such_file_or_directory))
    return absent("the kernel was built without CONFIG_PSI, or not booted with psi=1");
  if (pressure.error().is(std::errc::operation_not_supported)) return absent("off; boot with psi=1");
  return broken(pressure.error().message());
}

// Tests the pressure of one cgroup. It requires cgroup v2, and cgroup.pressure must not be disabled.
Finding psi_cgroup(const Node& node) {
  const std::string unified = node.layout.unified_directory("");
  if (unified.empty()) return absent("needs a unified hierarchy");
  Result<std::vector<std::string>> children = list_subdirectories(unified);
  if (!children) return broken(children.error().message());
  for (const std::string& child : *children) {
    if (exists(unified + "/" + child + "/cpu.pressure")) return supported("cpu.pressure");
  }
  return absent("no cgroup has cpu.pressure");
}

Finding btf(const Node& node) {
  const std::string path = node.roots.sys + "/kernel/btf/vmlinux";
  if (!exists(path)) return absent("the kernel was built without CONFIG_DEBUG_INFO_BTF");
  Result<UniqueFd> file = open_at(AT_FDCWD, path, O_RDONLY);
  return file ? supported(path) : broken(file.error().message());
}

Finding resctrl(const Node& node) {
  if (exists(node.roots.resctrl + "/schemata")) return supported(node.roots.resctrl);
  Result<std::string> filesystems = read_file(node.roots.proc + "/filesystems");
  const bool known = filesystems && filesystems->find("resctrl") != std::string::npos;
  if (known && exists(node.roots.resctrl)) return broken("not mounted at '" + node.roots.resctrl + "'");
  return absent("the CPU or the kernel has no resource control");
}

Finding kidled(const Node& node) {
  return readable(node.roots.sys + "/kernel/mm/kidled/scan_period_in_seconds", "not a kernel with kidled");
}

Finding damon(const Node& node) {
  if (exists(node.roots.sys + "/kernel/mm/damon/admin/kdamonds")) return supported("sysfs interface");
  return absent("the kernel was built without CONFIG_DAMON_SYSFS");
}

Finding page_idle(const Node& node) {
  if (exists(node.roots.sys + "/kernel/mm/page_idle/bitmap")) return supported("bitmap");
  return absent("the kernel was built without CONFIG_IDLE_PAGE_TRACKING");
}

// This sysctl is off by default. Because it can be switched on, off is reported as absent, not as broken.
Finding sched_schedstats(const Node& node) {
  Result<std::string> value = read_file(node.roots.proc + "/sys/kernel/sched_schedstats");
  if (!value) return absent("the kernel was built without CONFIG_SCHEDSTATS");
  return trim(*value) == "1" ? supported("on") : absent("off; sysctl kernel.sched_schedstats=1");
}

Finding sched_delay(const Node& node) {
  Result<std::string> schedstat = read_file(node.roots.proc + "/self/schedstat");
  return schedstat ? supported("/proc/<pid>/schedstat") : absent("the kernel was built without CONFIG_SCHED_INFO");
}

Finding memory_reclaim(const Node& node) {
  const std::string unified = node.layout.unified_directory("");
  if (unified.empty()) return absent("needs a unified hierarchy");
  Result<std::vector<std::string>> children = list_subdirectories(unified);
  for (const std::string& child : children.value_or({})) {
    if (exists(unified + "/" + child + "/memory.reclaim")) return supported("memory.reclaim");
  }
  return absent("no cgroup has memory.reclaim, which came with Linux 5.19");
}

template <Finding (*probe)()>
Finding of_kernel(const Node&) {
  return probe();
}

struct Probe {
  const char* name;
  Finding (*find)(const Node&);
};

constexpr Probe probes[] = {
    {"cgroup", cgroup_hierarchy},
    {"cgroup_v2", cgroup_v2},
    {"cpu_cgroup", cpu_cgroup},
    {"cpuset_cgroup", cpuset_cgroup},
    {"memory_cgroup", memory_cgroup},
    {"blkio_cgroup", blkio_cgroup},
    {"memory_reclaim", memory_reclaim},
    {"psi", psi},
    {"psi_cgroup", psi_cgroup},
    {"btf", btf},
    {"bpf", of_kernel<probe_bpf>},
    {"bpf_tracepoint", of_kernel<probe_bpf_tracepoint>},
    {"perf_event", of_kernel<probe_perf_event>},
    {"pmu", of_kernel<probe_pmu>},
    {"core_scheduling", of_kernel<probe_core_scheduling>},
    {"oom_score_adj", of_kernel<probe_oom_score_adj>},
    {"inotify", of_kernel<probe_inotify>},
    {"pidfd", of_kernel<probe_pidfd>},
    {"resctrl", resctrl},
    {"kidled", kidled},
    {"damon", damon},
    {"page_idle", page_idle},
    {"sched_schedstats", sched_schedstats},
    {"sched_delay", sched_delay},
};

}  // namespace

std::vector<Capability> probe_capabilities(const NodeRoots& roots, const cgroup::Layout& layout) {
  const Node node{roots, layout};
  std::vector<Capability> found;
  for (const Probe& probe : probes) {
    Finding finding = probe.find(node);
    found.push_back({probe.name, finding.state, std::move(finding.detail), {}});
  }
  return found;
}

}  // namespace koord::service
