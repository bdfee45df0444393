// SPDX-License-Identifier: Apache-2.0
#include "test/support/fake_pods.hpp"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>

namespace koord::test {
namespace {

using cgroup::Driver;
using cgroup::KubeRoot;
using Value = std::int64_t;

// A class may use more CPUs than any of its containers does.
constexpr const char* kContainerCpus = "0-1";
constexpr const char* kClassCpus = "0-7";

std::string text(Value value) { return std::to_string(value); }
std::string line(const std::string& key, Value value) { return key + ' ' + text(value) + '\n'; }
Value bytes(Value pages) { return pages * ::sysconf(_SC_PAGESIZE); }

KubeRoot root_of(PodLayout layout) {
  switch (layout) {
    case PodLayout::v2_cgroupfs:
    case PodLayout::hybrid:
      return cgroup::default_kube_root(Driver::cgroupfs);
    case PodLayout::kind:
      return {Driver::systemd, "kubelet.slice/kubelet-kubepods.slice"};
    case PodLayout::v2_systemd:
    case PodLayout::v1_systemd:
      break;
  }
  return cgroup::default_kube_root(Driver::systemd);
}

CgroupUse sum(const std::vector<FakeContainer>& containers) {
  CgroupUse all;
  for (const FakeContainer& container : containers) {
    const CgroupUse& use = container.use;
    for (auto field : {&CgroupUse::cpu_us, &CgroupUse::periods, &CgroupUse::throttled, &CgroupUse::throttled_us,
                       &CgroupUse::inactive_anon_pages, &CgroupUse::active_anon_pages, &CgroupUse::unevictable_pages,
                       &CgroupUse::inactive_file_pages, &CgroupUse::active_file_pages, &CgroupUse::cpu_some_us,
                       &CgroupUse::oom_kills, &CgroupUse::limit_hits, &CgroupUse::read_bytes, &CgroupUse::write_bytes,
                       &CgroupUse::reads, &CgroupUse::writes})
      all.*field += use.*field;
    all.cpu_some_percent = std::max(all.cpu_some_percent, use.cpu_some_percent);
  }
  return all;
}

Value anon_pages(const CgroupUse& use) { return use.inactive_anon_pages + use.active_anon_pages; }
Value file_pages(const CgroupUse& use) { return use.inactive_file_pages + use.active_file_pages; }
Value pages_in_use(const CgroupUse& use) { return anon_pages(use) + file_pages(use) + use.unevictable_pages; }

// Returns the line "KEY N0=FIRST N1=SECOND". `total` is empty, or "=TOTAL" after the key.
std::string numa_line(const std::string& key, const std::string& total, Value first, Value second) {
  return key + total + " N0=" + text(first) + " N1=" + text(second) + '\n';
}

class Writer {
 public:
  Writer(FakeNode& node, PodLayout layout) : node_(node), layout_(layout) {}

  void make_roots() {
    switch (layout_) {
      case PodLayout::v2_systemd:
      case PodLayout::v2_cgroupfs:
      case PodLayout::kind:
        return node_.write("cgroup/cgroup.controllers", "cpuset cpu io memory hugetlb pids rdma misc\n");
      case PodLayout::v1_systemd:
        node_.make_directory("cgroup/cpu,cpuacct");
        for (const char* alias : {"cgroup/cpu", "cgroup/cpuacct"})
          if (!std::filesystem::exists(node_.path(alias))) node_.link(alias, "cpu,cpuacct");
        return;
      case PodLayout::hybrid:
        return node_.write("cgroup/unified/cgroup.controllers", "\n");
    }
  }

  // `of_pod`: the cgroup is a pod's, so counters that v1 keeps only for the cgroup's own processes are 0.
  void write(const std::string& dir, const CgroupUse& use, bool of_pod) {
    if (layout_ == PodLayout::v1_systemd || layout_ == PodLayout::hybrid)
      write_v1(dir, use, of_pod);
    else
      write_v2("cgroup/" + dir, use);
    write_pressure(dir, use);
  }

  void write_cpus(const std::string& dir, const std::string& cpus) {
    const bool v1 = layout_ == PodLayout::v1_systemd || layout_ == PodLayout::hybrid;
    node_.write(v1 ? "cgroup/cpuset/" + dir + "/cpuset.effective_cpus" : "cgroup/" + dir + "/cpuset.cpus.effective",
                cpus + '\n');
  }

 private:
  void write_v2(const std::string& dir, const CgroupUse& use) {
    node_.write(dir + "/cpu.stat", line("usage_usec", use.cpu_us) + line("user_usec", use.cpu_us) +
                                       line("system_usec", 0) + line("nr_periods", use.periods) +
                                       line("nr_throttled", use.throttled) + line("throttled_usec", use.throttled_us));
    node_.write(dir + "/cpu.max", "max 100000\n");
    node_.write(dir + "/memory.current", text(bytes(pages_in_use(use))) + '\n');
    node_.write(dir + "/memory.max", "max\n");
    node_.write(dir + "/memory.stat",
                line("anon", bytes(anon_pages(use))) + line("file", bytes(file_pages(use))) + lists(use, ""));
    node_.write(dir + "/memory.numa_stat", numa_v2(use));
    node_.write(dir + "/memory.events", line("low", 0) + line("high", 0) + line("max", use.limit_hits) +
                                            line("oom", use.oom_kills) + line("oom_kill", use.oom_kills) +
                                            line("oom_group_kill", 0));
    node_.write(dir + "/io.stat", "8:0 rbytes=" + text(use.read_bytes) + " wbytes=" + text(use.write_bytes) +
                                      " rios=" + text(use.reads) + " wios=" + text(use.writes) + " dbytes=0 dios=0\n");
  }

  void write_v1(const std::string& dir, const CgroupUse& use, bool of_pod) {
    node_.write("cgroup/cpu/" + dir + "/cpu.stat", line("nr_periods", use.periods) +
                                                       line("nr_throttled", use.throttled) +
                                                       line("throttled_time", use.throttled_us * 1000));
    node_.write("cgroup/cpuacct/" + dir + "/cpuacct.usage", text(use.cpu_us * 1000) + '\n');
    const std::string memory = "cgroup/memory/" + dir;
    node_.write(memory + "/memory.usage_in_bytes", text(bytes(pages_in_use(use))) + '\n');
    node_.write(memory + "/memory.limit_in_bytes", "9223372036854771712\n");
    node_.write(memory + "/memory.stat", lists(of_pod ? CgroupUse() : use, "") +
                                             line("total_cache", bytes(file_pages(use))) +
                                             line("total_rss", bytes(anon_pages(use))) + lists(use, "total_"));
    node_.write(memory + "/memory.numa_stat", numa_v1(use));
    node_.write(memory + "/memory.oom_control",
                line("oom_kill_disable", 0) + line("under_oom", 0) + line("oom_kill", of_pod ? 0 : use.oom_kills));
    node_.write(memory + "/memory.failcnt", text(of_pod ? 0 : use.limit_hits) + '\n');
    for (const char* suffix : {"", "_recursive"}) {
      const CgroupUse& counted = of_pod && *suffix == '\0' ? CgroupUse() : use;
      write_blkio("cgroup/blkio/" + dir + "/blkio.throttle.io_service_bytes" + suffix, counted.read_bytes,
                  counted.write_bytes);
      write_blkio("cgroup/blkio/" + dir + "/blkio.throttle.io_serviced" + suffix, counted.reads, counted.writes);
    }
  }

  void write_blkio(const std::string& path, Value read, Value written) {
    const std::string total = text(read + written);
    node_.write(path, "8:0 Read " + text(read) + "\n8:0 Write " + text(written) + "\n8:0 Sync " + total +
                          "\n8:0 Async 0\n8:0 Discard 0\n8:0 Total " + total + "\nTotal " + total + '\n');
  }

  void write_pressure(const std::string& dir, const CgroupUse& use) {
    const std::string none = " avg10=0.00 avg60=0.00 avg300=0.00 total=0\n";
    std::string tree = "cgroup/";
    if (layout_ == PodLayout::v1_systemd) tree += "cpuacct/";
    if (layout_ == PodLayout::hybrid) tree += "unified/";
    node_.write(tree + dir + "/cpu.pressure", "some avg10=" + text(use.cpu_some_percent) +
                                                  ".00 avg60=0.00 avg300=0.00 total=" + text(use.cpu_some_us) +
                                                  "\nfull" + none);
    node_.write(tree + dir + "/memory.pressure", "some" + none + "full" + none);
    node_.write(tree + dir + "/io.pressure", "some" + none + "full" + none);
  }

  static std::string lists(const CgroupUse& use, const std::string& prefix) {
    return line(prefix + "inactive_anon", bytes(use.inactive_anon_pages)) +
           line(prefix + "active_anon", bytes(use.active_anon_pages)) +
           line(prefix + "inactive_file", bytes(use.inactive_file_pages)) +
           line(prefix + "active_file", bytes(use.active_file_pages)) +
           line(prefix + "unevictable", bytes(use.unevictable_pages));
  }

  static std::string numa_v2(const CgroupUse& use) {
    const auto half = [](const std::string& key, Value pages) {
      return numa_line(key, "", bytes(pages / 2), bytes(pages - pages / 2));
    };
    return half("anon", anon_pages(use)) + half("file", file_pages(use)) +
           half("inactive_anon", use.inactive_anon_pages) + half("active_anon", use.active_anon_pages) +
           half("inactive_file", use.inactive_file_pages) + half("active_file", use.active_file_pages) +
           half("unevictable", use.unevictable_pages);
  }

  static std::string numa_v1(const CgroupUse& use) {
    std::string all;
    for (const std::string prefix : {"", "hierarchical_"})
      for (const auto& [key, pages] : {std::pair<std::string, Value>{"total", pages_in_use(use)},
                                       {"file", file_pages(use)},
                                       {"anon", anon_pages(use)},
                                       {"unevictable", use.unevictable_pages}})
        all += numa_line(prefix + key, "=" + text(pages), pages / 2, pages - pages / 2);
    return all;
  }

  FakeNode& node_;
  PodLayout layout_;
};

}  // namespace

const char* name_of(PodLayout layout) {
  switch (layout) {
    case PodLayout::v2_systemd:
      return "v2, systemd";
    case PodLayout::v2_cgroupfs:
      return "v2, cgroupfs";
    case PodLayout::v1_systemd:
      return "v1, systemd";
    case PodLayout::hybrid:
      return "hybrid";
    case PodLayout::kind:
      return "kind";
  }
  return "?";
}

void lay_out_pods(FakeNode& node, PodLayout layout, const std::vector<FakePod>& pods) {
  Writer writer(node, layout);
  writer.make_roots();
  const KubeRoot root = root_of(layout);
  std::map<std::string, std::vector<FakeContainer>> classes;
  for (const FakePod& pod : pods) {
    const std::string dir = cgroup::pod_dir(root, pod.qos, pod.uid);
    writer.write(dir, sum(pod.containers), true);
    for (const FakeContainer& container : pod.containers) {
      const std::string container_dir = cgroup::container_dir(root.driver, dir, "containerd://" + container.id).value();
      writer.write(container_dir, container.use, false);
      writer.write_cpus(container_dir, kContainerCpus);
      classes[cgroup::qos_dir(root, pod.qos)].push_back(container);
    }
  }
  for (const auto& [dir, containers] : classes) {
    writer.write(dir, sum(containers), true);
    writer.write_cpus(dir, kClassCpus);
  }
}

}  // namespace koord::test
