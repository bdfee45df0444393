// SPDX-License-Identifier: Apache-2.0
// One evaluate() of each strategy as it is installed, on a node with 250 pods of three containers: taking the snapshot, reading
// what it needs, deciding, handing the plan over. The NodeSLO switches everything on, each pod has annotations, resctrl is a
// fake tree; there are no samples of metrics, so that strategies which decide on usage find none. The .so files are the
// arguments. Against what one round of all strategies may take.
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "test/bench/measure.hpp"
#include "test/support/fake_host.hpp"

using namespace koord;
using namespace koord::bench;

namespace {

constexpr int kPods = 250, kContainers = 3, kRounds = 51;
constexpr double kAllowedMs = 10;

constexpr const char* kSlo = R"({"resourceUsedThresholdWithBE": {"enable": true, "cpuSuppressThresholdPercent": 65, "memoryEvictThresholdPercent": 70},
  "cpuBurstStrategy": {"policy": "auto", "cpuBurstPercent": 100, "cfsQuotaBurstPercent": 300},
  "systemStrategy": {"minFreeKbytesFactor": 100, "watermarkScaleFactor": 150},
  "resourceQOSStrategy": {
    "lsrClass": {"memoryQOS": {"enable": true, "minLimitPercent": 30}, "resctrlQOS": {"enable": true, "catRangeStartPercent": 0, "catRangeEndPercent": 100, "mbaPercent": 100}},
    "lsClass": {"memoryQOS": {"enable": true, "lowLimitPercent": 40}, "resctrlQOS": {"enable": true, "catRangeStartPercent": 0, "catRangeEndPercent": 100, "mbaPercent": 100}},
    "beClass": {"memoryQOS": {"enable": true, "throttlingPercent": 80}, "resctrlQOS": {"enable": true, "catRangeStartPercent": 0, "catRangeEndPercent": 30, "mbaPercent": 50},
                "blkioQOS": {"enable": true, "blocks": [{"name": "vdb", "type": "device", "ioCfg": {"readBPS": 1048576, "ioWeightPercent": 60}}]}}}})";

void make_node(test::FakeNode& node) {
  node.write("sys/block/vdb/dev", "254:16\n");
  node.write("proc/filesystems", "nodev\tresctrl\n");
  node.write("proc/cpuinfo", "vendor_id\t: GenuineIntel\n");
  node.write("proc/meminfo", "MemTotal:       65536000 kB\nMemAvailable:   32768000 kB\n");
  node.write("resctrl/schemata", "    MB:0=100;1=100\n    L3:0=7ff;1=7ff\n");
  node.write("resctrl/info/L3/cbm_mask", "7ff\n");
  node.write("resctrl/info/L3/num_closids", "512\n");  // a group for each pod
  node.write("resctrl/info/MB/bandwidth_gran", "10\n");
}

state::Pod pod_of(int number) {
  const std::string id = std::to_string(number);
  state::Pod pod;
  pod.uid = "uid-" + id, pod.namespace_ = "bench", pod.name = "pod-" + id;
  pod.phase = state::Phase::running;
  const bool best_effort = number % 2 == 0;
  pod.koord_qos = best_effort ? state::KoordQos::be : state::KoordQos::ls;
  pod.kube_qos = best_effort ? state::KubeQos::best_effort : state::KubeQos::burstable;
  pod.cgroup_dir = std::string("kubepods/") + (best_effort ? "besteffort" : "burstable") + "/poduid-" + id;
  pod.annotations["koordinator.sh/blkioQOS"] = R"({"blocks": [{"name": "/dev/vdb", "type": "device", "ioCfg": {"readBPS": 1048576, "writeIOPS": 100}}]})";
  pod.annotations["node.koordinator.sh/resctrl"] = R"({"llc": {"schemata": {"range": [0, 50]}}, "mb": {"schemata": {"percent": 40}}})";
  pod.annotations["koordinator.sh/memoryQOS"] = R"({"policy": "default", "lowLimitPercent": 50})";
  for (int i = 0; i < kContainers; ++i) {
    state::Container container;
    container.id = "containerd://" + id + "-" + std::to_string(i);
    container.name = "c" + std::to_string(i);
    container.state = state::ContainerState::running;
    container.cgroup_dir = pod.cgroup_dir + "/" + id + "-" + std::to_string(i);
    container.resources = {{"cpu", 500, 1000}, {"memory", 1 << 28, 1 << 29}};
    pod.containers.push_back(std::move(container));
  }
  pod.resources = {{"cpu", 1500, 3000}, {"memory", 3 << 28, 3ll << 29}};
  return pod;
}

// Median ms of CPU of a round; nothing: this node cannot have it.
std::optional<double> measure(const std::string& shared_object, test::FakeHost& host) {
  const std::string name = std::filesystem::path(shared_object).stem();
  test::FakeInstance strategy(host, shared_object);
  if (strategy.init() != KOORD_OK) {
    std::printf("%-44s left out: %s\n", name.c_str(), strategy.why().c_str());
    return std::nullopt;
  }
  std::vector<double> milliseconds;
  std::size_t wishes = 0, failed = 0;
  for (int round = 0; round < kRounds; ++round) {
    host.clock().advance(std::chrono::seconds(5));
    milliseconds.push_back(1e3 * cpu_seconds_of([&] { failed += strategy.evaluate() != KOORD_OK; }));
    wishes = host.context().take_plan().size();
  }
  if (failed > 0) std::printf("%s: %zu rounds failed: %s\n", name.c_str(), failed, strategy.why().c_str());
  print_ratio(name + ", " + std::to_string(wishes) + " wishes", median(milliseconds), "all may take", kAllowedMs, "ms", 1);
  return median(milliseconds);
}

}  // namespace

int main(int argc, char** argv) {
  test::FakeNode node;
  make_node(node);
  test::FakeHost host(node);
  std::vector<state::Pod> pods;
  for (int i = 0; i < kPods; ++i) pods.push_back(pod_of(i));
  state::Node about;
  about.name = "bench";
  about.capacity = about.allocatable = {{"cpu", 64000}, {"memory", 64ll << 30}};
  host.hub().publish({.node = about, .pods = std::move(pods), .node_slo = kSlo});
  double all = 0;
  for (int i = 1; i < argc; ++i) all += measure(argv[i], host).value_or(0);
  print_ratio("one round of all strategies, 250 pods", all, "allowed", kAllowedMs, "ms", 1);
}
