// SPDX-License-Identifier: Apache-2.0
// The series on /metrics for each level of exporter.detail, counted on pages of an agent with every plugin.
#include <doctest/doctest.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <string>

#include "core/agentd/export_detail.hpp"
#include "core/base/file.hpp"
#include "core/metric/desc.hpp"
#include "test/support/agent_process.hpp"
#include "test/support/fake_nodes.hpp"
#include "test/support/fake_pods.hpp"
#include "test/support/real_cgroup.hpp"

using namespace koord;
using namespace koord::test;

namespace {

constexpr int kPods = 8;
constexpr std::size_t kContainersOfPod = 3;
constexpr const char* kLevels[] = {"node", "pod", "container", "all"};

// Returns the directories of all built plugins.
std::vector<std::string> every_plugin() {
  std::vector<std::string> directories;
  const std::vector<std::string> names = list_subdirectories(built("plugins")).value_or({});
  for (const std::string& name : names) {
    const std::string directory = built("plugins/" + name);
    if (std::ifstream(directory + "/" + name + ".so")) directories.push_back(directory);
  }
  return directories;
}

std::string label(const std::string& series, const std::string& name) {
  const std::string begin = name + "=\"";
  const std::size_t at = series.find(begin);
  return at == std::string::npos
             ? ""
             : series.substr(at + begin.size(), series.find('"', at + begin.size()) - at - begin.size());
}

// The series on a page. The series of plugins are grouped by the kind of subject.
struct Page {
  explicit Page(const std::string& text) {
    for (const auto& [line, value] : parse_metrics(text)) {
      const std::string family = line.substr(0, line.find('{')).substr(std::string("koordetector_").size());
      if (metric::is_reserved(family)) {
        own.insert(line);
        continue;
      }
      all.insert(line);
      const std::string container = label(line, "container_id") + label(line, "container_name");
      const std::string pod = label(line, "pod_uid");
      if (!container.empty())
        containers[container].insert(line);
      else if (!pod.empty())
        pods[pod].insert(line);
      else
        node.insert(line);
    }
  }
  std::size_t most_of_a_container() const {
    std::size_t most = 0;
    for (const auto& [name, series] : containers) most = std::max(most, series.size());
    return most;
  }
  bool has(const std::string& family) const {
    return std::any_of(all.begin(), all.end(), [&](const std::string& line) { return line.starts_with(family); });
  }

  std::set<std::string> all, node, own;  // `own`: of the agent itself
  std::map<std::string, std::set<std::string>> pods, containers;
};

std::string hex_id(int pod, std::size_t container) {
  const std::string digits = std::to_string(pod * 10 + static_cast<int>(container));
  return std::string(64 - digits.size(), 'c') + digits;
}

// A cgroup v2 node in a fake tree: pods with three containers each, and numbers that do not change.
struct FullNode {
  FullNode() {
    lay_out(tree, two_sockets_with_threads());
    for (const char* resource : {"cpu", "memory", "io"})
      tree.write(std::string("proc/pressure/") + resource, "some avg10=0.00 avg60=0.00 avg300=0.00 total=0\n");
    tree.link("sys/dev/block/8:0", "../../devices/pci0000:00/block/sda");
    const CgroupUse use{
        .cpu_us = 1'000'000, .periods = 10, .throttled = 4, .throttled_us = 1000, .read_bytes = 4096, .reads = 1};
    std::vector<FakePod> pods;
    for (int pod = 0; pod < kPods; ++pod) {
      FakePod made{.uid = "0000000-1111-2222-3333-00000000000" + std::to_string(pod), .containers = {}};
      for (std::size_t i = 0; i < kContainersOfPod; ++i) made.containers.push_back({hex_id(pod, i), use});
      pods.push_back(made);
    }
    lay_out_pods(tree, PodLayout::v2_systemd, pods);
    agent.write_config(config("all"));
  }
  std::string config(const std::string& detail) const {
    const NodeRoots at = tree.roots();
    return "  settings: {advisor-memory-events: {config: {kernelLog: /nonexistent}}}\nroots: {proc: \"" + at.proc +
           "\", sys: \"" + at.sys + "\", cgroup: \"" + at.cgroup +
           "\"}\nstate: {source: cgroup}\nexporter: {detail: " + detail + "}\n";
  }
  void set_detail(const std::string& detail) {
    agent.write_config(config(detail));
    agent.process().signal(SIGHUP);
  }
  Page page() const { return Page(agent.metrics()); }
  // Returns whether every container has been measured twice and the page no longer changes.
  bool is_measured() const {
    const Page first = page();
    return first.pods.size() == kPods && first.containers.size() == kPods * kContainersOfPod &&
           first.has("koordetector_container_cpu_usage{") && first.has("koordetector_container_psi{") &&
           first.has("koordetector_container_block_reads_total{") &&
           first.has("koordetector_node_psi_stalled_ratio{") && first.all == page().all;
  }

  FakeNode tree;
  AgentProcess agent{"", every_plugin()};
};

// Returns the first series that only one of the two sets has.
std::string difference(const std::set<std::string>& now, const std::set<std::string>& wanted) {
  std::set<std::string> one_sided;
  std::set_symmetric_difference(now.begin(), now.end(), wanted.begin(), wanted.end(),
                                std::inserter(one_sided, one_sided.begin()));
  return one_sided.empty() ? "" : *one_sided.begin() + (now.contains(*one_sided.begin()) ? " is new" : " is missing");
}

// Returns whether the page has the subjects of the level.
bool is_of(const std::string& level, const Page& page) {
  const bool pods = level != "node", containers = level == "container" || level == "all";
  return !page.node.empty() && page.pods.size() == (pods ? kPods : 0u) &&
         page.containers.size() == (containers ? kPods * kContainersOfPod : 0u);
}

}  // namespace

TEST_CASE("each level of exporter.detail has the subjects of the last level and more, and the data API has all") {
  FullNode node;
  REQUIRE(node.agent.start());
  REQUIRE(eventually([&] { return node.is_measured(); }, std::chrono::seconds(60)));
  std::size_t before = 0;
  for (const std::string level : kLevels) {
    INFO("level " << level);
    node.set_detail(level);
    // From "container" to "all" the subjects stay the same.
    REQUIRE(eventually([&] { return is_of(level, node.page()) && node.page().all.size() > before; }));
    const Page page = node.page();
    before = page.all.size();
    MESSAGE(level << ": " << page.own.size() << " series of the agent itself, " << page.all.size() << " of plugins: "
                  << page.node.size() << " of the node, " << (page.pods.empty() ? 0 : page.pods.begin()->second.size())
                  << " of a pod, " << page.most_of_a_container() << " of a container");
    CHECK(page.has("koordetector_container_psi{") == (level == "all"));
    CHECK(page.has("koordetector_pod_psi{") == (level == "all"));
    if (level != "all") {
      CHECK(page.most_of_a_container() <= agentd::kMaxContainerSeries);
      CHECK(page.own.size() + page.node.size() <= agentd::kMaxNodeSeries);
    }
    const std::string kept = node.agent.get("/api/v1/query?metric=container_psi&window=1m&agg=last");
    CHECK_MESSAGE(kept.find(hex_id(kPods - 1, kContainersOfPod - 1)) != std::string::npos, kept);
  }
  CHECK(node.agent.stop() == 0);
}

TEST_CASE("while exporter.detail changes each page has the old or the new level, so series of both have no gap") {
  FullNode node;
  REQUIRE(node.agent.start());
  REQUIRE(eventually([&] { return node.is_measured(); }, std::chrono::seconds(60)));
  std::map<std::string, std::set<std::string>> series;
  for (const std::string level : kLevels) {
    node.set_detail(level);
    REQUIRE(eventually([&] {
      return is_of(level, node.page()) && node.page().has("koordetector_container_psi{") == (level == "all");
    }));
    series[level] = node.page().all;
  }
  std::string from = "all";
  for (const std::string to : {"node", "all", "container", "pod", "container", "node"}) {
    INFO("from " << from << " to " << to);
    node.set_detail(to);
    const bool is_new = eventually([&] {
      const std::set<std::string> now = node.page().all;
      CHECK_MESSAGE((now == series[from] || now == series[to]), difference(now, series[to]));
      return now == series[to];
    });
    REQUIRE(is_new);
    from = to;
  }
  CHECK(node.agent.stop() == 0);
}

TEST_CASE("on this kernel a busy container has at most 15 series by default, with every plugin and with verdicts") {
  RealCgroup cgroup("detail");
  cgroup.limit_cpu(0.5);
  ChildProcess busy([] {
    for (;;) asm volatile("");
  });
  cgroup.add_process(busy.pid());
  AgentProcess agent("state: {source: cgroup, cgroup: {paths: [\"koord-test-detail*\"]}}", every_plugin());
  REQUIRE(agent.start({"--feature-gates=InterferenceCollector=true"}));
  REQUIRE(eventually(
      [&] {
        return find_metric(agent.metrics(), "koordetector_container_cpu_throttled", {cgroup.dir()}).value_or(0) > 0;
      },
      std::chrono::seconds(60)));
  REQUIRE(eventually(
      [&] {
        // Wait for two ticks of the slowest plugins.
        const std::string counted = agent.get("/api/v1/query?metric=container_cpu_usage&window=1h&agg=count");
        const std::size_t at = counted.find("\"count\":");
        return at != std::string::npos && std::atof(counted.c_str() + at + 8) > 12;
      },
      std::chrono::seconds(60)));
  Page page(agent.metrics());
  MESSAGE(page.own.size() << " series of the agent itself, " << page.node.size() << " of the node");
  CHECK(page.own.size() + page.node.size() <= agentd::kMaxNodeSeries);
  const std::set<std::string> exported = page.containers[cgroup.dir()];
  for (const std::string& one : exported) MESSAGE(one);
  // Active verdicts have additional series.
  const auto verdicts =
      static_cast<std::size_t>(std::count_if(exported.begin(), exported.end(), [](const std::string& line) {
        return line.starts_with("koordetector_container_interference{");
      }));
  CHECK(exported.size() - verdicts <= agentd::kMaxContainerSeries);
  CHECK(agent.stop() == 0);
}
