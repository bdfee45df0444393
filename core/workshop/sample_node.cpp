// SPDX-License-Identifier: Apache-2.0
#include "core/workshop/sample_node.hpp"

#include <chrono>
#include <string>
#include <utility>

namespace koord::workshop {
namespace {

constexpr std::int64_t kStartNs = 1'700'000'000'000'000'000;
constexpr int kFrames = 4;

constexpr const char* kPods = R"({"kind": "PodList", "items": [
  {"metadata": {"uid": "0a0a0a0a-1111-2222-3333-444444444401", "namespace": "shop", "name": "cart", "labels": {"app": "cart", "koordinator.sh/qosClass": "LS"}},
   "spec": {"priority": 9500, "containers": [
     {"name": "web", "resources": {"requests": {"cpu": "500m", "memory": "256Mi"}, "limits": {"cpu": "1", "memory": "512Mi"}}},
     {"name": "cache", "resources": {"requests": {"cpu": "100m", "memory": "64Mi"}}}]},
   "status": {"phase": "Running", "qosClass": "Burstable", "startTime": "2023-11-14T22:00:00Z", "containerStatuses": [
     {"name": "web", "containerID": "containerd://aaaa000000000000000000000000000000000000000000000000000000000001", "state": {"running": {}}},
     {"name": "cache", "containerID": "containerd://aaaa000000000000000000000000000000000000000000000000000000000002", "state": {"running": {}}}]}},
  {"metadata": {"uid": "0a0a0a0a-1111-2222-3333-444444444402", "namespace": "batch", "name": "train", "labels": {"koordinator.sh/qosClass": "BE"}},
   "spec": {"priority": 5500, "containers": [{"name": "main", "resources": {"requests": {"kubernetes.io/batch-cpu": "1000"}}}]},
   "status": {"phase": "Running", "qosClass": "BestEffort", "startTime": "2023-11-14T22:05:00Z", "containerStatuses": [
     {"name": "main", "containerID": "containerd://aaaa000000000000000000000000000000000000000000000000000000000003", "state": {"running": {}}}]}}]})";

constexpr const char* kNodeSlo =
    R"({"spec": {"resourceUsedThresholdWithBE": {"enable": true, "cpuSuppressThresholdPercent": 65}}})";

constexpr const char* kCgroups[] = {
    "kubepods.slice",
    "kubepods.slice/kubepods-burstable.slice",
    "kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod0a0a0a0a_1111_2222_3333_444444444401.slice",
    "kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod0a0a0a0a_1111_2222_3333_444444444401.slice/"
    "cri-containerd-aaaa000000000000000000000000000000000000000000000000000000000001.scope",
    "kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod0a0a0a0a_1111_2222_3333_444444444401.slice/"
    "cri-containerd-aaaa000000000000000000000000000000000000000000000000000000000002.scope",
    "kubepods.slice/kubepods-besteffort.slice",
    "kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod0a0a0a0a_1111_2222_3333_444444444402.slice",
    "kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod0a0a0a0a_1111_2222_3333_444444444402.slice/"
    "cri-containerd-aaaa000000000000000000000000000000000000000000000000000000000003.scope",
    "system.slice",
    "system.slice/sshd.service",
};

std::string pressure(std::uint64_t total_us) {
  const std::string rest = " avg10=1.50 avg60=0.80 avg300=0.30 total=";
  return "some" + rest + std::to_string(total_us) + "\nfull" + rest + std::to_string(total_us / 2) + "\n";
}

class NodeWriter {
 public:
  void file(const std::string& path, std::string content) { tree_[path] = {TreeEntry::Type::file, std::move(content)}; }

  // Returns the node `second` seconds after its start.
  Tree write(std::uint64_t second) {
    proc(second);
    sys();
    file("cgroup/cgroup.controllers", "cpuset cpu io memory pids\n");
    std::uint64_t share = 1;
    for (const char* dir : kCgroups) cgroup(std::string("cgroup/") + dir, second, share++);
    tree_["run/containerd"] = {TreeEntry::Type::directory, {}};
    return std::move(tree_);
  }

 private:
  void proc(std::uint64_t second) {
    const std::uint64_t busy = 100'000 + second * 120, idle = 900'000 + second * 80;  // 100 ticks per second and CPU
    const std::string half = std::to_string(busy / 2) + " 0 " + std::to_string(busy / 10) + " " +
                             std::to_string(idle / 2) + " 500 0 300 0 0 0\n";
    file("proc/stat", "cpu  " + std::to_string(busy) + " 0 " + std::to_string(busy / 5) + " " + std::to_string(idle) +
                          " 1000 0 600 0 0 0\ncpu0 " + half + "cpu1 " + half + "intr 5000000\nctxt " +
                          std::to_string(9'000'000 + second * 4000) + "\nbtime 1699990000\nprocesses " +
                          std::to_string(50'000 + second * 10) + "\nprocs_running 3\nprocs_blocked 1\n");
    file(
        "proc/meminfo",
        "MemTotal:        8000000 kB\nMemFree:         3000000 kB\nMemAvailable:    5000000 kB\nBuffers:          200000 kB\n"
        "Cached:          1800000 kB\nSwapTotal:             0 kB\nSwapFree:              0 kB\nActive(file):     900000 kB\n"
        "Inactive(file):   800000 kB\nSReclaimable:     150000 kB\nHugePages_Total:       0\nHugepagesize:       2048 kB\n");
    file("proc/loadavg", std::to_string(1 + second) + ".25 1.10 0.90 3/412 51234\n");
    file("proc/uptime", std::to_string(10'000 + second) + ".00 18000.00\n");
    file("proc/vmstat", "nr_free_pages 750000\npgfault " + std::to_string(7'000'000 + second * 900) +
                            "\npgmajfault 4000\npgscan_direct 100\noom_kill 1\n");
    file("proc/softirqs",
         "                    CPU0       CPU1\n          HI:          1          0\n       TIMER:     " +
             std::to_string(400'000 + second * 250) +
             "     390000\n      NET_RX:      90000      80000\n       SCHED:     300000     310000\n");
    file("proc/schedstat",
         "version 15\ntimestamp 4300000000\ncpu0 0 0 0 0 0 0 " + std::to_string((second + 100) * 900'000'000) + " " +
             std::to_string((second + 100) * 60'000'000) + " 80000\ncpu1 0 0 0 0 0 0 90000000000 6000000000 80000\n");
    file(
        "proc/net/dev",
        "Inter-|   Receive                                                |  Transmit\n face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed\n"
        "  eth0: " +
            std::to_string(60'000'000 + second * 100'000) +
            "   50000    0    0    0     0          0         0 20000000   30000    0    0    0     0       0          0\n");
    file("proc/net/sockstat", "sockets: used 200\nTCP: inuse 20 orphan 0 tw 5 alloc 30 mem 8\nUDP: inuse 4 mem 2\n");
    file("proc/1/net/sockstat", "sockets: used 200\nTCP: inuse 20 orphan 0 tw 5 alloc 30 mem 8\nUDP: inuse 4 mem 2\n");
    file("proc/diskstats", "   8       0 sda 10000 100 800000 5000 20000 300 1600000 9000 0 12000 14000 0 0 0 0 0 0\n");
    for (const char* resource : {"cpu", "memory", "io"})
      file(std::string("proc/pressure/") + resource, pressure(1'000'000 + second * 15'000));
    file(
        "proc/cpuinfo",
        "processor\t: 0\nmodel name\t: Sample CPU\ncpu MHz\t\t: 2500.000\n\nprocessor\t: 1\nmodel name\t: Sample CPU\ncpu MHz\t\t: 2500.000\n\n");
    file("proc/version", "Linux version 6.1.0 (sample)\n");
    file("proc/filesystems", "nodev\tcgroup2\nnodev\ttmpfs\n\text4\n");
  }

  void sys() {
    const std::string cpu = "sys/devices/system/cpu/";
    for (const char* list : {"online", "possible", "present"}) file(cpu + list, "0-1\n");
    for (const std::string number : {"0", "1"}) {
      const std::string topology = cpu + "cpu" + number + "/topology/";
      file(topology + "core_id", number + "\n");
      file(topology + "physical_package_id", "0\n");
      file(topology + "thread_siblings_list", number + "\n");
      const std::string cache = cpu + "cpu" + number + "/cache/index3/";
      file(cache + "id", "0\n");
      file(cache + "level", "3\n");
      file(cache + "shared_cpu_list", "0-1\n");
    }
    for (const std::string node : {"sys/devices/system/node/node0/", "sys/bus/node/devices/node0/"}) {
      file(node + "cpulist", "0-1\n");
      file(
          node + "meminfo",
          "Node 0 MemTotal:        8000000 kB\nNode 0 MemFree:         3000000 kB\nNode 0 MemUsed:         5000000 kB\n"
          "Node 0 Active(file):     900000 kB\nNode 0 Inactive(file):   800000 kB\nNode 0 FilePages:       2000000 kB\nNode 0 SReclaimable:     150000 kB\n");
    }
    file("sys/devices/system/node/online", "0\n");
  }

  // Writes a cgroup. `share`: its relative usage; later cgroups use more.
  void cgroup(const std::string& dir, std::uint64_t second, std::uint64_t share) {
    const std::uint64_t usage_us = share * (50'000'000 + second * 40'000), bytes = share * (64u << 20) + second * 4096;
    file(dir + "/cgroup.procs", std::to_string(1000 + share) + "\n");
    file(dir + "/cgroup.events", "populated 1\nfrozen 0\n");
    file(dir + "/cpu.stat", "usage_usec " + std::to_string(usage_us) + "\nuser_usec " +
                                std::to_string(usage_us * 3 / 4) + "\nsystem_usec " + std::to_string(usage_us / 4) +
                                "\nnr_periods " + std::to_string(1000 + second * 10) + "\nnr_throttled " +
                                std::to_string(50 + second) + "\nthrottled_usec " +
                                std::to_string(900'000 + second * 2000) + "\n");
    file(dir + "/cpu.max", share % 2 == 0 ? "100000 100000\n" : "max 100000\n");
    file(dir + "/cpu.weight", "100\n");
    file(dir + "/cpuset.cpus", "\n");
    file(dir + "/cpuset.cpus.effective", "0-1\n");
    file(dir + "/memory.current", std::to_string(bytes) + "\n");
    file(dir + "/memory.max", share % 2 == 0 ? "1073741824\n" : "max\n");
    file(dir + "/memory.stat", "anon " + std::to_string(bytes / 2) + "\nfile " + std::to_string(bytes / 2) +
                                   "\nkernel_stack 16384\nfile_mapped 4096\nfile_dirty 0\n"
                                   "inactive_anon 0\nactive_anon " +
                                   std::to_string(bytes / 2) + "\ninactive_file " + std::to_string(bytes / 4) +
                                   "\nactive_file " + std::to_string(bytes / 4) +
                                   "\nunevictable 0\npgfault 1000\npgmajfault 10\n");
    file(dir + "/memory.events", "low 0\nhigh 0\nmax 2\noom 0\noom_kill 0\n");
    for (const char* resource : {"cpu", "memory", "io"})
      file(dir + "/" + resource + ".pressure", pressure(share * 10'000 + second * 500));
    file(dir + "/io.stat",
         "8:0 rbytes=" + std::to_string(share * 1'000'000) + " wbytes=2000000 rios=100 wios=200 dbytes=0 dios=0\n");
    file(dir + "/pids.current", "3\n");
  }

  Tree tree_;
};

}  // namespace

Fixture sample_node() {
  Fixture fixture{"sample", kStartNs, {kPods, "", kNodeSlo}, {}};
  Tree before;
  for (int i = 0; i < kFrames; ++i) {
    Tree tree = NodeWriter().write(static_cast<std::uint64_t>(i));
    fixture.frames.push_back(difference(std::chrono::seconds(i), before, tree));
    before = std::move(tree);
  }
  return fixture;
}

}  // namespace koord::workshop
