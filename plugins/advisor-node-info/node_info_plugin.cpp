// SPDX-License-Identifier: Apache-2.0
// advisor-node-info: reports the node's hardware as facts and as metrics.
#include <algorithm>
#include <utility>

#include "core/base/parse.hpp"
#include "koordetector/plugin.hpp"
#include "plugins/advisor-node-info/node_files.hpp"
#include "plugins/advisor-node-info/node_info.hpp"
#include "plugins/shared/node/host.hpp"
#include "plugins/shared/node/live_series.hpp"

namespace {

using namespace std::chrono_literals;
using koord::node_info::CpuCounts;
using koord::node_info::CpuFacts;
using koord::node_info::HugePages;
using koord::node_info::MemoryNode;
using koord::node_info::Processor;
using koord::plugin::Batch;
using koord::plugin::Failure;
using koord::plugin::Metric;
using koord::plugin::Snapshot;
using koord::plugin::Strided;

std::int32_t number_or_unknown(std::uint32_t id) { return id == UINT32_MAX ? -1 : static_cast<std::int32_t>(id); }

std::vector<Processor> online_processors(const koord_topology& topology) {
  std::vector<Processor> processors;
  for (const koord_cpu& cpu : Strided<koord_cpu>(topology.cpus, topology.n_cpus, topology.cpu_stride)) {
    if ((cpu.flags & KOORD_CPU_ONLINE) == 0) continue;
    processors.push_back({.cpu = static_cast<std::int32_t>(cpu.cpu),
                          .core = number_or_unknown(cpu.core),
                          .socket = number_or_unknown(cpu.socket),
                          .numa_node = std::max(number_or_unknown(cpu.numa_node), 0),
                          .l3 = std::max(number_or_unknown(cpu.l3), 0)});
  }
  return processors;
}

std::vector<std::uint32_t> numa_ids(const koord_topology& topology) {
  std::vector<std::uint32_t> ids;
  for (const koord_numa_node& node :
       Strided<koord_numa_node>(topology.numa_nodes, topology.n_numa_nodes, topology.numa_node_stride))
    ids.push_back(node.id);
  return ids;
}

class NodeInfo final : public koord::plugin::Advisor {
 public:
  void init() override {
    roots_ = koord::node::roots_of(host());
    cpu_series_ = series_ = koord::node::LiveSeries(host());
    state_ = koord::plugin::require<koord_svc_state>(host(), "koord.state/1");
    clock_ = koord::plugin::require<koord_svc_clock>(host(), "koord.clock/1");
    cpu_fact_ = {host(), "node_cpu_info"};
    numa_fact_ = {host(), "node_numa_info"};
    batch_ = Batch(host());
    cpu_info_ = define({"node_cpu_info", "", "The node's CPUs, as labels; always 1."});
    memory_ = define({"node_numa_memory_total_bytes", "bytes", "Memory of a NUMA node, in bytes.", 1024});
    pages_ = define({"node_hugepages", "pages", "Huge pages of a NUMA node."});
    free_pages_ = define({"node_hugepages_free", "pages", "Huge pages of a NUMA node that are free."});
    cpu_rounds_ = koord::node::Rounds(
        define({"collect_node_cpu_info_total", "rounds", "Rounds of reading the CPUs.", 1, KOORD_COUNTER}));
    numa_rounds_ = koord::node::Rounds(
        define({"collect_node_numa_info_total", "rounds", "Rounds of reading the NUMA nodes.", 1, KOORD_COUNTER}));
    koord::plugin::check(state_->subscribe(host(), KOORD_ON_TOPOLOGY), "watching the topology");
  }

  void collect(std::uint64_t now_ns, std::uint64_t) override {
    const Snapshot snapshot(host(), state_);
    if (snapshot.version(KOORD_ON_TOPOLOGY) == 0)
      throw Failure(KOORD_E_AGAIN, "the topology of the node is not known yet");
    const koord_topology& topology = *snapshot.topology();
    std::optional<Failure> failure;
    count_round(cpu_rounds_, failure, [&] { report_cpus(online_processors(topology)); });
    count_round(numa_rounds_, failure, [&] { report_memory(numa_ids(topology)); });
    batch_.send(now_ns);
    if (failure) throw Failure(*failure);
  }

  // Updates immediately when CPUs appear or disappear, because a minute would be too long for schedulers.
  void on_event(std::uint32_t what, std::uint64_t) override {
    if (what & KOORD_ON_TOPOLOGY) collect(clock_->now_ns(host()), 0);
  }

 private:
  template <class Round>
  void count_round(koord::node::Rounds& rounds, std::optional<Failure>& failure, Round&& round) {
    bool done = true;
    try {
      round();
    } catch (const Failure& failed) {
      failure = failed;
      done = false;
    }
    rounds.count(done, batch_);
  }

  void report_cpus(std::vector<Processor> online) {
    const CpuFacts facts = koord::node_info::read_cpu_facts(roots_, std::move(online));
    cpu_fact_.put(koord::node_info::cpu_info_json(facts));
    const std::vector<std::string> labels = cpu_labels(facts);
    const std::uint64_t series = cpu_series_.of(koord::join(labels, "|"), [&] {
      return cpu_info_.series(KOORD_NO_SUBJECT, {{"model", labels[0]},
                                                 {"vendor", labels[1]},
                                                 {"sockets", labels[2]},
                                                 {"cores", labels[3]},
                                                 {"cpus", labels[4]},
                                                 {"threads_per_core", labels[5]},
                                                 {"turbo", labels[6]}});
    });
    cpu_series_.end_others();
    batch_.add(series, 1);
  }

  static std::vector<std::string> cpu_labels(const CpuFacts& facts) {
    const CpuCounts counts = koord::node_info::count(facts.processors);
    return {facts.model.model,
            facts.model.vendor,
            std::to_string(counts.sockets),
            std::to_string(counts.cores),
            std::to_string(counts.cpus),
            std::to_string(counts.threads_per_core),
            !facts.turbo   ? "unknown"
            : *facts.turbo ? "on"
                           : "off"};
  }

  void report_memory(const std::vector<std::uint32_t>& ids) {
    auto nodes = koord::node_info::read_memory_nodes(roots_, ids);
    if (!nodes) throw Failure(KOORD_E_IO, nodes.error().message());
    numa_fact_.put(koord::node_info::numa_info_json(*nodes));
    for (const MemoryNode& node : *nodes) {
      const std::string id = std::to_string(node.id);
      const double bytes = static_cast<double>(node.meminfo.at("MemTotal")) * 1024;
      batch_.add(series_.of(id, [&] { return memory_.series(KOORD_NO_SUBJECT, {{"numa_node_id", id}}); }), bytes);
      for (const HugePages& pages : node.huge_pages) report_huge_pages(id, pages);
    }
    series_.end_others();
  }

  void report_huge_pages(const std::string& id, const HugePages& pages) {
    const std::string size = koord::node_info::page_size_name(pages.size_kib);
    const auto series = [&](const char* what, const Metric& metric) {
      return series_.of(id + " " + what + " " + size, [&] {
        return metric.series(KOORD_NO_SUBJECT, {{"page_size", size}, {"numa_node_id", id}});
      });
    };
    batch_.add(series("total", pages_), static_cast<double>(pages.total));
    batch_.add(series("free", free_pages_), static_cast<double>(pages.free));
  }

  koord::NodeRoots roots_;
  const koord_svc_state* state_ = nullptr;
  const koord_svc_clock* clock_ = nullptr;
  koord::node::Fact cpu_fact_, numa_fact_;
  Metric cpu_info_, memory_, pages_, free_pages_;
  koord::node::Rounds cpu_rounds_, numa_rounds_;
  koord::node::LiveSeries cpu_series_, series_;
  Batch batch_;
};

}  // namespace

KOORD_PLUGIN("id=advisor-node-info\nversion=1.0.0\nkinds=koord.advisor/1\n"
             "gate=NodeInfoCollector\nstage=beta\ndefault=true\n"
             "requires=koord.metrics/1,koord.state/1,koord.fs/1,koord.kv/1,koord.clock/1\nlicense=Apache-2.0\n"
             "description=CPUs, caches, NUMA nodes and huge pages of the node\n",
             koord::plugin::advisor<NodeInfo>("node-info", 60s))
