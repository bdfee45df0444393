// SPDX-License-Identifier: Apache-2.0
#include "test/bench/full_node.hpp"

#include <string>
#include <utility>

namespace koord::bench {
namespace {

constexpr const char* kSlo = R"({
  "resourceUsedThresholdWithBE": {"enable": true, "cpuSuppressThresholdPercent": 65, "cpuSuppressPolicy": "cpuset",
    "memoryEvictThresholdPercent": 90, "memoryAllocatableEvictThresholdPercent": 95, "allocatableEvictPriorityThreshold": 5999,
    "cpuEvictBESatisfactionLowerPercent": 20, "cpuEvictBESatisfactionUpperPercent": 40, "cpuEvictBEUsageThresholdPercent": 90,
    "cpuEvictThresholdPercent": 95, "cpuAllocatableEvictThresholdPercent": 95, "evictEnabledPriorityThreshold": 5999},
  "cpuBurstStrategy": {"policy": "auto", "cpuBurstPercent": 100, "cfsQuotaBurstPercent": 300, "sharePoolThresholdPercent": 50},
  "systemStrategy": {"minFreeKbytesFactor": 100, "watermarkScaleFactor": 150},
  "resourceQOSStrategy": {
    "lsrClass": {"resctrlQOS": {"enable": true, "catRangeStartPercent": 0, "catRangeEndPercent": 100, "mbaPercent": 100}},
    "lsClass": {"memoryQOS": {"enable": true, "minLimitPercent": 20, "lowLimitPercent": 40, "throttlingPercent": 80, "wmarkRatio": 95,
                  "wmarkScalePermill": 20, "wmarkMinAdj": -25, "priorityEnable": 1, "priority": 10, "oomKillGroup": 1},
                "resctrlQOS": {"enable": true, "catRangeStartPercent": 0, "catRangeEndPercent": 100, "mbaPercent": 100}},
    "beClass": {"memoryQOS": {"enable": true, "minLimitPercent": 20, "lowLimitPercent": 40, "throttlingPercent": 80, "wmarkRatio": 95,
                  "wmarkScalePermill": 20, "wmarkMinAdj": 50, "priorityEnable": 1, "priority": 5, "oomKillGroup": 1},
                "resctrlQOS": {"enable": true, "catRangeStartPercent": 0, "catRangeEndPercent": 30, "mbaPercent": 50},
                "blkioQOS": {"enable": true, "blocks": [{"name": "vdb", "type": "device",
                  "ioCfg": {"readBPS": 1048576, "ioWeightPercent": 60}}]}}}})";

using File = std::pair<const char*, const char*>;
// The files of each cgroup, with their content.
constexpr File kFiles[] = {
    {"cgroup.threads", ""},
    {"cpu.max", "300000 100000\n"},
    {"cpu.max.burst", "0\n"},
    {"cpu.weight", "100\n"},
    {"cpu.idle", "0\n"},
    {"cpu.pressure", "some avg10=0.00 avg60=0.00 avg300=0.00 total=0\n"},
    {"cpu.stat", "usage_usec 1000000\nuser_usec 500000\nsystem_usec 500000\n"
                 "nr_periods 10\nnr_throttled 0\nthrottled_usec 0\n"},
    {"cpuset.cpus", "0-63\n"},
    {"cpuset.cpus.effective", "0-63\n"},
    {"memory.current", "104857600\n"},
    {"memory.min", "0\n"},
    {"memory.low", "0\n"},
    {"memory.high", "max\n"},
    {"memory.max", "max\n"},
    {"memory.oom.group", "0\n"},
    {"memory.reclaim", ""},
    {"memory.pressure",
     "some avg10=0.00 avg60=0.00 avg300=0.00 total=0\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0\n"},
    {"memory.stat",
     "anon 52428800\nfile 52428800\ninactive_file 26214400\nactive_file 26214400\nworkingset_refault_file 0\n"},
    {"io.max", ""},
    {"io.weight", "default 100\n"}};
constexpr File kVendorFiles[] = {{"memory.wmark_ratio", "0\n"},          {"memory.wmark_scale_factor", "50\n"},
                                 {"memory.wmark_min_adj", "0\n"},        {"memory.priority", "0\n"},
                                 {"memory.use_priority_oom", "0\n"},     {"memory.pagecache_limit.enable", "0\n"},
                                 {"memory.pagecache_limit.size", "0\n"}, {"memory.pagecache_limit.sync", "0\n"}};

state::Pod pod_of(int number) {
  const std::string id = std::to_string(number);
  state::Pod pod;
  pod.uid = "8c2f9d1e-6a54-4b0b-9a57-" + std::string(12 - id.size(), '0') + id;
  pod.namespace_ = "bench", pod.name = "deployment-7d9f5c6b8-" + id;
  pod.phase = state::Phase::running;
  const bool best_effort = number % 2 == 0;
  pod.koord_qos = best_effort ? state::KoordQos::be : state::KoordQos::ls;
  pod.kube_qos = best_effort ? state::KubeQos::best_effort : state::KubeQos::burstable;
  pod.cgroup_dir = std::string("kubepods/") + (best_effort ? "besteffort" : "burstable") + "/pod" + pod.uid;
  pod.annotations["koordinator.sh/blkioQOS"] =
      R"({"blocks": [{"name": "/dev/vdb", "type": "device", "ioCfg": {"readBPS": 1048576, "writeIOPS": 100}}]})";
  pod.annotations["node.koordinator.sh/resctrl"] = R"({"llc": {"schemata": {"range": [0, 50]}}})";
  pod.annotations["koordinator.sh/memoryQOS"] =
      R"({"policy": "default", "lowLimitPercent": 50, "pageCacheLimitPercent": 60})";
  for (int i = 0; i < kContainersOfPod; ++i) {
    state::Container container;
    const std::string hash = std::string(56 - id.size(), 'a') + id + "-" + std::to_string(i);
    container.id = "containerd://" + hash;
    container.name = "c" + std::to_string(i);
    container.state = state::ContainerState::running;
    container.cgroup_dir = pod.cgroup_dir + "/" + hash;
    container.resources = {{"cpu", 500, 1000},
                           {"memory", 1 << 28, 1 << 29},
                           {"kubernetes.io/batch-cpu", 500, 1000},
                           {"kubernetes.io/batch-memory", 1 << 28, 1 << 29}};
    pod.containers.push_back(std::move(container));
  }
  pod.resources = {{"cpu", 1500, 3000},
                   {"memory", 3 << 28, 3ll << 29},
                   {"kubernetes.io/batch-cpu", 1500, 3000},
                   {"kubernetes.io/batch-memory", 3 << 28, 3ll << 29}};
  return pod;
}

}  // namespace

FullNode::FullNode(Kernel kernel) {
  for (int i = 0; i < kPods; ++i) pods_.push_back(pod_of(i));
  write_files(kernel);
  host_ = std::make_unique<test::FakeHost>(node_);
  samples_ = std::make_unique<test::FakeSamples>(*host_);
  publish();
}

std::string_view FullNode::slo() { return kSlo; }

void FullNode::write_files(Kernel kernel) {
  node_.write("cgroup/cgroup.controllers", "cpuset cpu io memory pids\n");
  const auto add = [&](const std::string& dir) {
    for (const auto& [file, content] : kFiles) node_.write("cgroup/" + dir + "/" + file, content);
    if (kernel != Kernel::every_knob) return;
    for (const auto& [file, content] : kVendorFiles) node_.write("cgroup/" + dir + "/" + file, content);
  };
  for (const char* dir : {"kubepods", "kubepods/besteffort", "kubepods/burstable"}) add(dir);
  node_.write("sys/block/vdb/dev", "254:16\n");
  node_.write("proc/filesystems", "nodev\tresctrl\n");
  node_.write("proc/cpuinfo", "vendor_id\t: GenuineIntel\n");
  node_.write("proc/meminfo", "MemTotal:       65536000 kB\nMemAvailable:   32768000 kB\n");
  node_.write("proc/sys/vm/min_free_kbytes", "67584\n");
  node_.write("proc/sys/vm/watermark_scale_factor", "10\n");
  // The schemata have no line MB, because a kernel changes one line at each write, but a plain file keeps only the last
  // write.
  node_.write("resctrl/schemata", "L3:0=7ff;1=7ff\n");
  node_.write("resctrl/info/L3/cbm_mask", "7ff\n");
  node_.write("resctrl/info/L3/num_closids", "512\n");  // enough for a group per pod
  const auto add_group = [&](const std::string& name) {
    node_.write("resctrl/" + name + "/schemata", "L3:0=7ff;1=7ff\n");
    node_.write("resctrl/" + name + "/tasks", "");
  };
  for (const char* name : {"koord-BE", "koord-LS", "koord-LSR"}) add_group(name);
  for (const state::Pod& pod : pods_) {
    add(pod.cgroup_dir);
    add_group("koord-pod-" + pod.uid);
    for (const state::Container& container : pod.containers) add(container.cgroup_dir);
  }
}

void FullNode::publish() {
  state::Node about;
  about.name = "bench";
  about.capacity = about.allocatable = {{"cpu", 64000}, {"memory", 64ll << 30}};
  state::Topology topology;
  for (int cpu = 0; cpu < 64; ++cpu)
    topology.cpus.push_back({.cpu = cpu, .core = cpu / 2, .socket = cpu / 32, .numa_node = cpu / 32, .online = true});
  host_->hub().publish({.node = about, .pods = pods_, .node_slo = kSlo, .topology = topology});
  pods_ = host_->hub().current()->pods;  // these have handles
}

void FullNode::pass_second() {
  host_->clock().advance(std::chrono::seconds(1));
  samples_->add("node_cpu_usage", 30);
  samples_->add("node_memory_usage", 20e9);
  for (const auto& [allocation, value] :
       {std::pair("usage", 10e3), std::pair("request", 187.5e3), std::pair("real-limit", 187.5e3)})
    samples_->add("node_be", value, KOORD_NO_SUBJECT, {{"be_resource", "cpu"}, {"be_allocation", allocation}});
  for (const state::Pod& pod : pods_) {
    samples_->add("pod_cpu_usage", 0.09, pod.handle);
    samples_->add("pod_memory_usage", 80e6, pod.handle);
    for (const state::Container& container : pod.containers) {
      samples_->add("container_cpu_usage", 0.03, container.handle);
      samples_->add("container_cpu_throttled", 0, container.handle);
    }
  }
}

}  // namespace koord::bench
