// SPDX-License-Identifier: Apache-2.0
// advisor-sys-resource: reports the usage of the node outside its pods and host applications.
#include <algorithm>
#include <set>
#include <string>

#include "core/base/parse.hpp"
#include "koordetector/plugin.hpp"
#include "plugins/advisor-sys-resource/sys_resource.hpp"
#include "plugins/shared/sdk/newest.hpp"
#include "plugins/shared/sdk/numa_series.hpp"

namespace {

using namespace std::chrono_literals;
using koord::plugin::Batch;
using koord::plugin::Failure;
using koord::plugin::Label;
using koord::plugin::NumaSeries;
using koord::plugin::Snapshot;
using koord::plugin::Strided;
using koord::sys_resource::ApplicationRoll;
using koord::sys_resource::PodRoll;
using koord::usage::NewestSamples;

constexpr char kConfigSchema[] = R"({
  "type": "object", "additionalProperties": false, "properties": {
    "maxAge": {"type": "string",
               "description": "a measurement that is older is none, as \"10s\"; longer than the period of memory.stat; default: 10s"}
  }})";

constexpr std::chrono::nanoseconds kDefaultMaxAge = 10s;

class SysResource final : public koord::plugin::Advisor {
 public:
  void init() override {
    state_ = koord::plugin::require<koord_svc_state>(host(), "koord.state/1");
    newest_ = NewestSamples(host());
    batch_ = Batch(host());
    cpu_ =
        define({"sys_cpu_usage", "cores", "CPU used on the node besides pods and host applications, in cores.", 1e-4})
            .series();
    memory_ =
        define({"sys_memory_usage", "bytes",
                "Memory used on the node besides pods and host applications, without page cache, in bytes.", 1024})
            .series();
    numa_cpu_ = NumaSeries(define({"sys_numa_cpu_usage", "cores",
                                   "CPU used on a NUMA node besides pods and host applications, in cores: its part of "
                                   "sys_cpu_usage by its part of all CPU used.",
                                   1e-4}));
    numa_memory_ = NumaSeries(
        define({"sys_numa_memory_usage", "bytes",
                "Memory used on a NUMA node besides pods and host applications, without page cache, in bytes.", 1024}));
    read_config();
  }

  void on_event(std::uint32_t what, std::uint64_t) override {
    if (what & KOORD_ON_CONFIG) read_config();
  }

  void collect(std::uint64_t now_ns, std::uint64_t) override {
    follow_state(now_ns);
    newest_.set_window(now_ns - std::min(now_ns, max_age_ns_), now_ns);
    applications_.follow(static_cast<std::size_t>(newest_.value_of("host_applications").value_or(0)), now_ns);
    const std::optional<double> cores = rest_of("cpu_usage", now_ns);
    if (cores) batch_.add(cpu_, *cores);
    if (auto bytes = rest_of("memory_usage", now_ns)) batch_.add(memory_, *bytes);
    if (cores) add_numa_cpu(*cores);
    for (std::uint32_t node : memory_nodes_) add_numa_memory(node, now_ns);
    batch_.send(now_ns);
  }

 private:
  void read_config() {
    const std::optional<std::string> text = koord::plugin::Config(host()).string("/maxAge");
    koord::Result<koord::Duration> age =
        text ? koord::parse_duration(*text) : koord::Result<koord::Duration>(kDefaultMaxAge);
    if (!age || *age <= koord::Duration::zero())
      throw Failure(KOORD_E_INVALID, "maxAge: '" + *text + "' is not a time that is longer than nothing, as 10s");
    max_age_ns_ = static_cast<std::uint64_t>(std::chrono::nanoseconds(*age).count());
    pods_ = PodRoll(max_age_ns_);
    applications_ = ApplicationRoll(max_age_ns_);
    pods_version_ = 0;
  }

  void follow_state(std::uint64_t now_ns) {
    const Snapshot snapshot(host(), state_);
    if (snapshot.version(KOORD_ON_PODS) == 0) throw Failure(KOORD_E_AGAIN, "the pods are not known yet");
    if (snapshot.version(KOORD_ON_PODS) != pods_version_) {
      std::vector<PodRoll::Pod> pods;
      for (const koord_pod& pod : snapshot.pods())
        pods.push_back({pod.handle, pod.phase == KOORD_PHASE_RUNNING || pod.phase == KOORD_PHASE_UNKNOWN});
      pods_.follow(pods, now_ns);
      pods_version_ = snapshot.version(KOORD_ON_PODS);
    }
    if (snapshot.version(KOORD_ON_TOPOLOGY) != topology_version_) follow_topology(snapshot);
  }

  // A NUMA node may have no CPUs, or no memory.
  void follow_topology(const Snapshot& snapshot) {
    const koord_topology& topology = *snapshot.topology();
    cpu_nodes_.clear();
    memory_nodes_.clear();
    for (const koord_cpu& cpu : Strided<koord_cpu>(topology.cpus, topology.n_cpus, topology.cpu_stride))
      if ((cpu.flags & KOORD_CPU_ONLINE) && cpu.numa_node != UINT32_MAX) cpu_nodes_.insert(cpu.numa_node);
    for (const koord_numa_node& node :
         Strided<koord_numa_node>(topology.numa_nodes, topology.n_numa_nodes, topology.numa_node_stride))
      memory_nodes_.insert(node.id);
    topology_version_ = snapshot.version(KOORD_ON_TOPOLOGY);
  }

  // `what`: the part of the metric name that node, pods and applications have in common, with the same meaning.
  std::optional<double> rest_of(const std::string& what, std::uint64_t now_ns,
                                std::optional<Label> label = std::nullopt) {
    const std::optional<double> node = newest_.value_of("node_" + what, label);
    if (!node) return std::nullopt;
    const std::optional<double> pods = pods_.sum(newest_.of("pod_" + what, label), now_ns);
    const std::optional<double> applications = applications_.sum(newest_.of("host_application_" + what, label), now_ns);
    return koord::sys_resource::rest(node, pods, applications);
  }

  void add_numa_cpu(double cores) {
    std::map<std::uint32_t, std::optional<double>> used;
    for (std::uint32_t node : cpu_nodes_)
      used[node] = newest_.value_of("node_numa_cpu_usage", Label{"numa_node_id", std::to_string(node)});
    for (const auto& [node, part] : koord::sys_resource::numa_parts(cores, used)) numa_cpu_.add(batch_, node, part);
  }

  void add_numa_memory(std::uint32_t node, std::uint64_t now_ns) {
    const std::string id = std::to_string(node);
    if (auto bytes = rest_of("numa_memory_usage", now_ns, Label{"numa_node_id", id}))
      numa_memory_.add(batch_, node, *bytes);
  }

  const koord_svc_state* state_ = nullptr;
  std::uint64_t max_age_ns_ = 0;
  NewestSamples newest_;
  PodRoll pods_{0};
  ApplicationRoll applications_{0};
  std::uint64_t pods_version_ = 0, topology_version_ = 0;
  std::set<std::uint32_t> cpu_nodes_, memory_nodes_;
  std::uint64_t cpu_ = 0, memory_ = 0;
  NumaSeries numa_cpu_, numa_memory_;
  Batch batch_;
};

}  // namespace

KOORD_PLUGIN("id=advisor-sys-resource\nversion=1.0.0\nkinds=koord.advisor/1\n"
             "gate=SysResourceCollector\nstage=beta\ndefault=true\n"
             "requires=koord.metrics/1,koord.state/1,koord.config/1\nlicense=Apache-2.0\n"
             "description=CPU and memory of the node besides its pods and host applications\n",
             koord::plugin::advisor<SysResource>("sys-resource", 1s, kConfigSchema))
