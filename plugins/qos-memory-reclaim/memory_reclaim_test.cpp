// SPDX-License-Identifier: Apache-2.0
// Tests of the plugin on the host's real services and a fake node.
#include <doctest/doctest.h>

#include <string>

#include "koordetector/plugin.hpp"
#include "test/support/fake_host.hpp"

using namespace koord;
using koord::test::FakeHost;
using koord::test::FakeInstance;
using koord::test::FakeNode;
using namespace std::chrono_literals;

namespace {

constexpr const char* kPodDir = "kubepods/besteffort/podu1";
constexpr std::int64_t kMi = 1 << 20;

// A best-effort pod with 10 GiB of page cache on a cgroup v2 node.
struct MemoryReclaimFixture {
  MemoryReclaimFixture() {
    stat(0);
    stalled(0);
    pod.uid = pod.name = "u1";
    pod.koord_qos = state::KoordQos::be;
    pod.phase = state::Phase::running;
    pod.cgroup_dir = kPodDir;
    publish();
    REQUIRE(strategy.init() == KOORD_OK);
  }
  void publish() { host.hub().publish({.pods = std::vector{pod}}); }
  void write(const std::string& file, const std::string& text) {
    node.write("cgroup/" + std::string(kPodDir) + "/" + file, text);
  }
  void stat(std::int64_t refaulted_pages) {
    write("memory.stat", "anon 0\ninactive_file 10737418240\nactive_file 0\nworkingset_refault_file " +
                             std::to_string(refaulted_pages) + "\n");
  }
  void stalled(std::int64_t total_us) {
    write("memory.pressure", "some avg10=0.00 avg60=0.00 avg300=0.00 total=" + std::to_string(total_us) +
                                 "\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0\n");
  }
  knob::Plan plan() {
    host.clock().advance(10s);
    REQUIRE(strategy.evaluate() == KOORD_OK);
    return host.context().take_plan();
  }

  FakeNode node = FakeNode({{"cgroup/cgroup.controllers", "cpu memory io\n"}});
  FakeHost host{node};
  FakeInstance strategy{host, koord_entry_v1()};
  state::Pod pod;
};

}  // namespace

TEST_CASE("a little page cache of a best-effort pod without stalls is reclaimed") {
  MemoryReclaimFixture fixture;
  CHECK(fixture.plan().empty());
  const knob::Plan plan = fixture.plan();
  REQUIRE(plan.size() == 1);
  CHECK(plan[0].knob->name == "memory.reclaim");
  CHECK(plan[0].level == decision::Level::pod);
  CHECK(plan[0].cgroup_dir == kPodDir);
  CHECK(plan[0].value == "10737418");
  CHECK(plan[0].reason ==
        "a little of its page cache: its tasks stalled 0.00 % of the time for lack of memory, less than 1.00 %");
}

TEST_CASE("no page cache of a pod that stalls is reclaimed") {
  MemoryReclaimFixture fixture;
  fixture.plan();
  fixture.stalled(200'000);
  CHECK(fixture.plan().empty());
}

TEST_CASE("refaults of page cache are counted in pages") {
  MemoryReclaimFixture fixture;
  fixture.plan();
  CHECK(fixture.plan().size() == 1);
  fixture.stat(20 * kMi / 4096);
  CHECK(fixture.plan().empty());
}

TEST_CASE("pods of other classes and those that do not run are not reclaimed from") {
  MemoryReclaimFixture fixture;
  fixture.pod.koord_qos = state::KoordQos::ls;
  fixture.publish();
  fixture.plan();
  CHECK(fixture.plan().empty());
  fixture.pod.koord_qos = state::KoordQos::be;
  fixture.pod.phase = state::Phase::pending;
  fixture.publish();
  fixture.plan();
  CHECK(fixture.plan().empty());
}

TEST_CASE("without readable pressure nothing is reclaimed, and the capability is absent") {
  MemoryReclaimFixture fixture;
  fixture.node.remove("cgroup/" + std::string(kPodDir) + "/memory.pressure");
  fixture.plan();
  CHECK(fixture.plan().empty());
  const auto found = fixture.host.capabilities().find("memory_reclaim");
  REQUIRE(found);
  CHECK(found->state == service::CapabilityState::absent);
}

TEST_CASE("no more than the cold memory measured by advisor-cold-memory is reclaimed") {
  MemoryReclaimFixture fixture;
  auto advisor = fixture.host.make_context("advisor-cold-memory", workshop::all_services());
  const koord_host* host = advisor->host();
  const plugin::Metric cold(host, {"pod_memory_cold_page_size", "bytes", "cold memory", 1});
  const std::uint64_t handle =
      plugin::Snapshot(host, static_cast<const koord_svc_state*>(host->get_service(host, "koord.state/1")))
          .pods()
          .begin()
          .
          operator*()
          .handle;
  plugin::Batch batch(host);
  batch.add(cold.series(handle), 16.0 * kMi);
  fixture.plan();
  batch.send(static_cast<const koord_svc_clock*>(host->get_service(host, "koord.clock/1"))->now_ns(host));
  const knob::Plan plan = fixture.plan();
  REQUIRE(plan.size() == 1);
  CHECK(plan[0].value == std::to_string(10737418));
  CHECK(plan[0].inputs.back() == std::pair<std::string, std::string>("cold", std::to_string(16 * kMi)));
}

TEST_CASE("a kernel without memory.reclaim is tried again after ten minutes, and the capability is absent meanwhile") {
  MemoryReclaimFixture fixture;
  fixture.plan();
  REQUIRE(fixture.plan().size() == 1);
  REQUIRE(fixture.strategy.on_applied({{decision::Outcome::unsupported, "memory.reclaim", kPodDir, "", ""}}) ==
          KOORD_OK);
  CHECK(fixture.plan().empty());
  CHECK(fixture.host.capabilities().find("memory_reclaim")->state == service::CapabilityState::absent);
  fixture.host.clock().advance(10min);
  CHECK(fixture.plan().size() == 1);
  CHECK(fixture.host.capabilities().find("memory_reclaim")->state == service::CapabilityState::supported);
}
