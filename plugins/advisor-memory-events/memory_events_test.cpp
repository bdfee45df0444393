// SPDX-License-Identifier: Apache-2.0
#include "plugins/advisor-memory-events/memory_events.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "test/support/fake_host.hpp"

using namespace koord::memory_events;
using koord::test::FakeHost;
using koord::test::FakeInstance;
using koord::test::FakeNode;
using namespace std::chrono_literals;

namespace {

std::string v2_events(int max, int oom_kill) {
  return "low 0\nhigh 3\nmax " + std::to_string(max) + "\noom 1\noom_kill " + std::to_string(oom_kill) +
         "\noom_group_kill 0\n";
}

// A node with a pod of two containers, a kernel log, and the plugin.
struct MemoryEventsFixture {
  explicit MemoryEventsFixture(bool v2 = true, bool with_log = true) : v2_(v2) {
    node.write("proc/vmstat", "nr_free_pages 5\noom_kill 9\n");
    if (v2) node.write("cgroup/cgroup.controllers", "cpu memory\n");
    if (with_log) node.write("run/kmsg", log_);
    for (const char* dir : {"kubepods/pod1", "kubepods/pod1/c1", "kubepods/pod1/c2"}) count(dir, 0);
  }
  void count(const std::string& dir, int kills, int hits = 0) {
    if (v2_) return node.write("cgroup/" + dir + "/memory.events", v2_events(hits, kills));
    node.write("cgroup/memory/" + dir + "/memory.oom_control",
               "oom_kill_disable 0\nunder_oom 0\noom_kill " + std::to_string(kills) + "\n");
    node.write("cgroup/memory/" + dir + "/memory.failcnt", std::to_string(hits) + "\n");
  }
  void log_kill(const std::string& dir) {
    log_ += "6,1,1,-;oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=/,mems_allowed=0,oom_memcg=/" + dir +
            ",task_memcg=/" + dir + ",task=hog,pid=42,uid=0\n";
    node.write("run/kmsg", log_);
  }
  // Removes a cgroup's counters. A descriptor of an ordinary file would still read the removed file, so v2 files are
  // emptied.
  void remove(const std::string& dir) {
    if (v2_) return node.write("cgroup/" + dir + "/memory.events", "");
    node.write("cgroup/memory/" + dir + "/memory.oom_control", "");
    node.write("cgroup/memory/" + dir + "/memory.failcnt", "");
  }

  void start(std::vector<std::string> containers = {"c1", "c2"}) {
    host = std::make_unique<FakeHost>(node, R"({"kernelLog": ")" + node.path("run/kmsg") + "\"}");
    publish(std::move(containers));
    advisor = std::make_unique<FakeInstance>(*host, koord_entry_v1());
    REQUIRE(advisor->init() == KOORD_OK);
    tick();
  }
  void publish(std::vector<std::string> containers) {
    koord::state::Pod pod;
    pod.uid = pod.name = "pod1";
    pod.cgroup_dir = "kubepods/pod1";
    for (const std::string& name : containers)
      pod.containers.push_back({.id = "containerd://" + name, .name = name, .cgroup_dir = "kubepods/pod1/" + name});
    host->hub().publish({.pods = std::vector{pod}});
  }
  void tick() {
    host->clock().advance(5s);
    REQUIRE_MESSAGE(advisor->collect() == KOORD_OK, advisor->why());
  }
  std::optional<double> kills_of(const char* container) {
    return host->value("container_oom_kills_total", {{"container_name", container}});
  }
  std::optional<double> kills_of_pod() { return host->value("pod_oom_kills_total"); }
  std::vector<FakeHost::Report> events() { return host->events(); }

  FakeNode node;
  std::unique_ptr<FakeHost> host;
  std::unique_ptr<FakeInstance> advisor;

 private:
  bool v2_;
  std::string log_ = "6,1,1,-;boot\n";
};

}  // namespace

TEST_CASE("while the counter is readable it alone counts") {
  KillCount count;
  CHECK_FALSE(count.total());
  count.update(5, 0);
  CHECK(count.total() == 5);
  count.update(6, 1);
  CHECK(count.total() == 6);
  count.update(6, 2);  // the log is ahead
  CHECK(count.total() == 6);
}

TEST_CASE("when the counter is gone, kills logged since its last read are added, and none twice") {
  KillCount count;
  count.update(5, 3);
  count.update(std::nullopt, 3);
  CHECK(count.total() == 5);
  count.update(std::nullopt, 4);
  CHECK(count.total() == 6);
}

TEST_CASE("a container that never had a counter has the logged kills, and no value without any") {
  KillCount count;
  count.update(std::nullopt, 0);
  CHECK_FALSE(count.total());
  count.update(std::nullopt, 2);
  CHECK(count.total() == 2);
}

TEST_CASE("a count never decreases") {
  KillCount count;
  count.update(std::nullopt, 2);
  count.update(1, 2);
  CHECK(count.total() == 2);
}

TEST_CASE("a pod's counter includes its containers' kills on v2, and they are added on v1") {
  Kills v2, v1;
  for (Kills* pod : {&v2, &v1}) {
    pod->add_of_containers(2);
    pod->log_below();  // a kill in a container that is not measured any more
    pod->log_in_container();
  }
  v2.update(4, true);
  v1.update(1, false);
  CHECK(v2.total() == 4);
  CHECK(v1.total() == 1 + 1 + 2);
}

TEST_CASE("kills missing in the log are reported once, for a pod only if they stay") {
  UnreportedKills container, pod;
  CHECK(container.take(2, false) == 2);
  CHECK(container.take(2, false) == 0);
  CHECK(container.take(1, false) == 0);
  CHECK(container.take(3, false) == 1);
  CHECK(pod.take(1, true) == 0);
  CHECK(pod.take(0, true) == 0);
  CHECK(pod.take(1, true) == 0);
  CHECK(pod.take(1, true) == 1);
}

TEST_CASE("kills, limit hits and memory.high events of v2 are the kernel's counters") {
  MemoryEventsFixture fixture;
  fixture.count("kubepods/pod1/c1", 2, 7);
  fixture.count("kubepods/pod1", 2);
  fixture.start();
  CHECK(fixture.kills_of("c1") == 2.0);
  CHECK(fixture.kills_of("c2") == 0.0);
  CHECK(fixture.kills_of_pod() == 2.0);
  CHECK(fixture.host->value("container_memory_limit_hits_total", {{"container_name", "c1"}}) == 7.0);
  CHECK(fixture.host->value("container_memory_high_events_total", {{"container_name", "c1"}}) == 3.0);
  CHECK(fixture.host->value("node_oom_kills_total") == 9.0);
}

TEST_CASE("on v1 a pod has the kills of its containers, and there is no memory.high") {
  MemoryEventsFixture fixture(false);
  fixture.count("kubepods/pod1/c1", 2, 7);
  fixture.count("kubepods/pod1/c2", 1);
  fixture.start();
  CHECK(fixture.kills_of("c1") == 2.0);
  CHECK(fixture.kills_of_pod() == 3.0);
  CHECK(fixture.host->value("container_memory_limit_hits_total", {{"container_name", "c1"}}) == 7.0);
  CHECK(fixture.host->series("container_memory_high_events_total").empty());
}

TEST_CASE("kills before the agent's start cause no event") {
  MemoryEventsFixture fixture;
  fixture.count("kubepods/pod1/c1", 2);
  fixture.count("kubepods/pod1", 2);
  fixture.start();
  fixture.tick();
  CHECK(fixture.events().empty());
}

TEST_CASE("a kill in both sources is one kill and one event, which belongs to the container and names the victim") {
  for (bool v2 : {true, false}) {
    CAPTURE(v2);
    MemoryEventsFixture fixture(v2);
    fixture.start();
    fixture.log_kill("kubepods/pod1/c1");
    fixture.count("kubepods/pod1/c1", 1);
    if (v2) fixture.count("kubepods/pod1", 1);
    for (int i = 0; i < 3; ++i) fixture.tick();
    CHECK(fixture.kills_of("c1") == 1.0);
    CHECK(fixture.kills_of("c2") == 0.0);
    CHECK(fixture.kills_of_pod() == 1.0);
    REQUIRE(fixture.events().size() == 1);
    CHECK(fixture.events()[0].what == "OOM kill");
    CHECK(fixture.events()[0].why.find("'hog', pid 42") != std::string::npos);
    const koord::metric::Labels subject = fixture.events()[0].subject;
    const std::pair<std::string, std::string> container("container_name", "c1");
    CHECK(std::find(subject.begin(), subject.end(), container) != subject.end());
  }
}

TEST_CASE("a container with a cgroup that ended before the next read keeps its kill, and so does its pod") {
  for (bool v2 : {true, false}) {
    CAPTURE(v2);
    MemoryEventsFixture fixture(v2);
    fixture.start();
    fixture.log_kill("kubepods/pod1/c1");
    fixture.remove("kubepods/pod1/c1");
    if (v2) fixture.count("kubepods/pod1", 1);
    for (int i = 0; i < 3; ++i) fixture.tick();
    CHECK(fixture.kills_of("c1") == 1.0);
    CHECK(fixture.kills_of_pod() == 1.0);
    CHECK(fixture.events().size() == 1);
  }
}

TEST_CASE("a container that started and ended between two reads is counted for its pod") {
  for (bool v2 : {true, false}) {
    CAPTURE(v2);
    MemoryEventsFixture fixture(v2);
    fixture.start();
    fixture.log_kill("kubepods/pod1/c3");
    if (v2) fixture.count("kubepods/pod1", 1);
    for (int i = 0; i < 3; ++i) fixture.tick();
    CHECK(fixture.kills_of_pod() == 1.0);
    CHECK(fixture.kills_of("c1") == 0.0);
    CHECK(fixture.events().size() == 1);
  }
}

TEST_CASE("a pod keeps the kills of containers that have ended") {
  for (bool v2 : {true, false}) {
    CAPTURE(v2);
    MemoryEventsFixture fixture(v2);
    fixture.start();
    fixture.count("kubepods/pod1/c1", 2);
    if (v2) fixture.count("kubepods/pod1", 2);
    fixture.tick();
    fixture.remove("kubepods/pod1/c1");
    fixture.publish({"c2"});
    fixture.tick();
    CHECK(fixture.kills_of_pod() == 2.0);
  }
}

TEST_CASE(
    "without the kernel's log the counters are reported, with an event, and a capability names the missing file") {
  MemoryEventsFixture fixture(true, false);
  fixture.start();
  CHECK(fixture.host->capabilities().find("oom_log")->state == koord::service::CapabilityState::absent);
  fixture.count("kubepods/pod1/c1", 2);
  fixture.count("kubepods/pod1", 2);
  for (int i = 0; i < 3; ++i) fixture.tick();
  CHECK(fixture.kills_of("c1") == 2.0);
  REQUIRE(fixture.events().size() == 1);
  CHECK(fixture.events()[0].why.find("2 processes killed") == 0);
}

TEST_CASE("without the log a kill in a container that ended at once is reported for its v2 pod") {
  MemoryEventsFixture fixture(true, false);
  fixture.start();
  fixture.count("kubepods/pod1", 1);
  for (int i = 0; i < 3; ++i) fixture.tick();
  CHECK(fixture.kills_of_pod() == 1.0);
  CHECK(fixture.events().size() == 1);
}

TEST_CASE("a kill outside of all known cgroups is an event of the node") {
  MemoryEventsFixture fixture;
  fixture.start();
  fixture.log_kill("system.slice/unknown.service");
  fixture.tick();
  REQUIRE(fixture.events().size() == 1);
  CHECK(fixture.events()[0].subject.empty());
}

TEST_CASE("many kills at once are all counted, but only some are reported") {
  MemoryEventsFixture fixture(false);
  fixture.start();
  for (int i = 0; i < 100; ++i) fixture.log_kill("kubepods/pod1/gone");
  fixture.tick();
  CHECK(fixture.kills_of_pod() == 100.0);
  CHECK(fixture.events().size() == 32);
}
