// SPDX-License-Identifier: Apache-2.0
// The advisors of pods on nodes with different cgroup layouts: the same pods must have the same values. The agent's own
// walk of the tree finds the pods. The plugins are the installed shared objects, named on the command line.
#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdio>
#include <memory>

#include "core/state/cgroup_source.hpp"
#include "test/support/fake_host.hpp"
#include "test/support/fake_pods.hpp"
#include "test/support/fake_topology.hpp"

using namespace koord::test;
using koord::cgroup::KubeQos;
using koord::metric::Labels;

namespace {

std::vector<std::string> shared_objects;

const std::string kWeb = "11111111-2222-4333-8444-555555555555", kBatch = "99999999-2222-4333-8444-555555555555";
const std::string kServer(64, 'a'), kProxy(64, 'b'), kJob(64, 'c');

// Returns the pods' counters `seconds` after their start.
std::vector<FakePod> pods_after(std::int64_t seconds) {
  const CgroupUse server = {.cpu_us = 500'000 * seconds,
                            .periods = 10 * seconds,
                            .throttled = 4 * seconds,
                            .throttled_us = 100'000 * seconds,
                            .inactive_anon_pages = 1000,
                            .active_anon_pages = 200,
                            .unevictable_pages = 40,
                            .inactive_file_pages = 600,
                            .active_file_pages = 80,
                            .cpu_some_percent = 25,
                            .cpu_some_us = 250'000 * seconds,
                            .oom_kills = 2,
                            .limit_hits = 9,
                            .read_bytes = 4096 * seconds,
                            .write_bytes = 8192 * seconds,
                            .reads = seconds,
                            .writes = 2 * seconds};
  const CgroupUse proxy = {.cpu_us = 250'000 * seconds,
                           .periods = 10 * seconds,
                           .active_anon_pages = 60,
                           .cpu_some_percent = 5,
                           .oom_kills = 1,
                           .read_bytes = 512};
  const CgroupUse job = {
      .cpu_us = 1'500'000 * seconds, .inactive_anon_pages = 10, .write_bytes = 1 << 20, .writes = 16};
  return {{kWeb, KubeQos::guaranteed, {{kServer, server}, {kProxy, proxy}}},
          {kBatch, KubeQos::best_effort, {{kJob, job}}}};
}

struct Expected {
  const char* metric;
  Labels labels;
  double value;
};

Labels with(Labels labels, Labels more) {
  labels.insert(labels.end(), more.begin(), more.end());
  return labels;
}

// Returns the values at the second of two ticks, which are 10 s and 20 s after the start.
std::vector<Expected> expected() {
  const Labels web = {{"pod_uid", kWeb}}, batch = {{"pod_uid", kBatch}};
  const Labels server = {{"container_id", "containerd://" + kServer}},
               proxy = {{"container_id", "containerd://" + kProxy}};
  const Labels job = {{"container_id", "containerd://" + kJob}};
  const double page = static_cast<double>(::sysconf(_SC_PAGESIZE));
  const Labels some_cpu = {{"psi_resource", "cpu"}, {"psi_degree", "some"}}, disk = {{"device", "sda"}};
  return {
      {"container_cpu_usage", server, 0.5},
      {"container_cpu_usage", job, 1.5},
      {"pod_cpu_usage", web, 0.75},
      {"container_memory_usage", server, 1240 * page},
      {"pod_memory_usage", web, 1300 * page},
      {"pod_memory_usage", batch, 10 * page},
      {"container_memory_current_bytes", server, 1920 * page},
      {"pod_numa_memory_usage", with(web, {{"numa_node_id", "1"}}), 650 * page},
      {"pod_memory_usage_with_page_cache", web, 1980 * page},
      {"container_memory_usage_with_page_cache", server, 1920 * page},
      {"node_be", {{"be_resource", "cpu"}, {"be_allocation", "usage"}}, 1500},
      {"node_be", {{"be_resource", "cpu"}, {"be_allocation", "real-limit"}}, 2000},
      {"container_cpu_throttled", server, 0.4},
      {"container_cpu_throttled", proxy, 0},
      {"pod_cpu_throttled", web, 0.2},
      {"container_cpu_throttled_seconds_total", server, 2},
      {"container_psi", with(server, some_cpu), 25},
      {"container_psi", with(proxy, some_cpu), 5},
      {"pod_psi", with(web, some_cpu), 25},
      {"pod_psi_stalled_ratio", with(web, some_cpu), 0.25},
      {"container_pressure_stalled_seconds_total", with(server, some_cpu), 5},
      {"container_psi_cpu_full_supported", server, 1},
      {"container_oom_kills_total", server, 2},
      {"container_oom_kills_total", job, 0},
      {"pod_oom_kills_total", web, 3},
      {"container_memory_limit_hits_total", server, 9},
      {"container_block_read_bytes_total", with(server, disk), 81920},
      {"container_block_write_bytes_total", with(server, disk), 163840},
      {"container_block_reads_total", with(server, disk), 20},
      {"pod_block_read_bytes_total", with(web, disk), 82432},
      {"container_block_writes_total", with(job, disk), 16},
  };
}

// The plugins on one node, 20 s after the start of the pods.
class Node {
 public:
  explicit Node(PodLayout layout) {
    lay_out(node_, two_sockets_with_threads());
    for (const char* resource : {"cpu", "memory", "io"})
      node_.write(std::string("proc/pressure/") + resource, "some avg10=0.00 avg60=0.00 avg300=0.00 total=0\n");
    node_.write("proc/vmstat", "oom_kill 3\n");
    node_.link("sys/dev/block/8:0", "../../devices/pci0000:00/block/sda");
    lay_out_pods(node_, layout, pods_after(10));
    host_ = std::make_unique<FakeHost>(node_, R"({"kernelLog": "/nonexistent"})");
    publish_topology(*host_, node_);
    koord::state::CgroupSource source(*koord::cgroup::Layout::detect(node_.roots()), {.runtime = "containerd"},
                                      host_->hub());
    REQUIRE(source.refresh());
    for (const std::string& shared_object : shared_objects) {
      advisors_.push_back(std::make_unique<FakeInstance>(*host_, shared_object));
      REQUIRE_MESSAGE(advisors_.back()->init() == KOORD_OK, advisors_.back()->why());
    }
    collect();
    host_->clock().advance(std::chrono::seconds(10));
    lay_out_pods(node_, layout, pods_after(20));
    collect();
  }
  std::optional<double> value(const Expected& row) const { return host_->value(row.metric, row.labels); }
  std::size_t count(const char* metric) const { return host_->series(metric).size(); }

 private:
  void collect() {
    for (auto& advisor : advisors_) REQUIRE_MESSAGE(advisor->collect() == KOORD_OK, advisor->why());
  }

  FakeNode node_;
  std::unique_ptr<FakeHost> host_;
  std::vector<std::unique_ptr<FakeInstance>> advisors_;
};

void check_values(PodLayout layout) {
  const Node node(layout);
  for (const Expected& row : expected()) {
    INFO(std::string(row.metric), " ", row.labels.back().first, "=", row.labels.back().second);
    const std::optional<double> value = node.value(row);
    REQUIRE(value);
    CHECK(*value == doctest::Approx(row.value));
  }
  CHECK(node.count("container_cpu_usage") == 3);
  CHECK(node.count("pod_cpu_usage") == 2);
}

}  // namespace

TEST_CASE("a v2 node with the systemd driver gives the pods' values") { check_values(PodLayout::v2_systemd); }

TEST_CASE("a v2 node with the cgroupfs driver gives the same") { check_values(PodLayout::v2_cgroupfs); }

TEST_CASE(
    "a v1 node with the systemd driver, one tree for cpu and cpuacct, and a vendor's pressure files gives the same") {
  check_values(PodLayout::v1_systemd);
}

TEST_CASE("a hybrid node gives the same, with the pressure of its unified tree") { check_values(PodLayout::hybrid); }

TEST_CASE("a node in a container, with the kubelet's pods below a slice of their own, gives the same") {
  check_values(PodLayout::kind);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i)
    if (std::string(argv[i]).ends_with(".so")) shared_objects.emplace_back(argv[i]);
  if (shared_objects.empty()) {
    std::fprintf(stderr, "usage: %s PLUGIN.so… [doctest's options]\n", argv[0]);
    return 2;
  }
  return doctest::Context(argc, argv).run();
}
