// SPDX-License-Identifier: Apache-2.0
// The installed advisor-sched-latency and advisor-interference share one BPF program at each context switch. The
// arguments are the plugins' files. The test moves the host's clock; the kernel's clock is the real one.
#include <doctest/doctest.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>

#include "koordetector/plugin.hpp"
#include "plugins/advisor-interference/cpu_blame.hpp"
#include "plugins/advisor-sched-latency/sched_latency_probe.hpp"
#include "plugins/shared/latency/posted_waits.hpp"
#include "test/support/cpu_workloads.hpp"
#include "test/support/fake_host.hpp"
#include "test/support/must.hpp"
#include "test/support/real_cgroup.hpp"

using namespace koord::test;
using namespace std::chrono_literals;

namespace {

using koord::interference::CpuBlame;
using koord::interference::Lengths;
using koord::latency::CgroupTree;
using koord::latency::Waits;
using koord::sched_latency::Source;

std::string sched_file, interference_file;

CgroupTree real_tree() { return must(CgroupTree::find("cpu", "/sys/fs/cgroup", "/proc")); }

// Both plugins on one host, with their periods of 5 s and 1 s.
struct BothAdvisors {
  explicit BothAdvisors(const RealCgroup* cgroup = nullptr) {
    std::vector<koord::state::Container> containers;
    if (cgroup) {
      containers.emplace_back();
      containers[0].id = containers[0].name = containers[0].cgroup_dir = cgroup->dir();
      containers[0].kind = koord::state::ContainerKind::cgroup;
    }
    host.hub().publish({.pods = std::vector<koord::state::Pod>{}, .standalone = std::move(containers)});
    start(sched, *sched_context, sched_file);
  }

  void start(std::optional<FakeInstance>& instance, koord::service::PluginContext& context, const std::string& file) {
    instance.emplace(host, context, file);
    const koord_status status = instance->init();
    REQUIRE_MESSAGE(status == KOORD_OK, instance->why());
  }
  void start_interference() { start(interference, *interference_context, interference_file); }

  void pass(int seconds) {
    for (int i = 0; i < seconds; ++i) {
      host.clock().advance(1s);
      if (interference) REQUIRE_MESSAGE(interference->collect() == KOORD_OK, interference->why());
      if (++second_ % 5 == 0) REQUIRE_MESSAGE(sched->collect() == KOORD_OK, sched->why());
    }
  }
  // Returns whether this is the only source.
  bool reads_from(const std::string& source) const {
    const auto all = host.series("sched_latency_info");
    return all.size() == 1 && host.value("sched_latency_info", {{"source", source}}) == 1.0;
  }
  // Returns whether one of the next periods has waits. Until then the kernel's clock may not have advanced.
  bool reports_waits() {
    return eventually([this] {
      pass(5);
      return host.value("node_sched_latency_p50_seconds").value_or(-1) > 0;
    });
  }

  FakeHost host{koord::NodeRoots()};
  std::unique_ptr<koord::service::PluginContext> sched_context =
      host.make_context("advisor-sched-latency", koord::workshop::all_services());
  std::unique_ptr<koord::service::PluginContext> interference_context =
      host.make_context("advisor-interference", koord::workshop::all_services());
  std::optional<FakeInstance> sched, interference;

 private:
  int second_ = 0;
};

const Waits& of(const koord::latency::Reading<Waits>& reading, std::uint64_t cgroup) {
  static const Waits kNone;
  for (const auto& one : reading.cgroups)
    if (one.cgroup == cgroup) return one.total;
  return kNone;
}

double share(const Waits& waits, std::size_t bucket) { return double(waits.buckets[bucket]) / double(waits.count); }

}  // namespace

TEST_CASE("the program that blames counts the same waits as the program for their lengths") {
  const RealCgroup cgroup("lengths");
  set_weight(cgroup, 10'000);  // preferred to everything else during this test
  const std::uint64_t id = must(real_tree().directory(cgroup.dir())).id;
  koord::sched_latency::ProbeOptions options;
  options.only = Source::sched_info;
  const auto probe = must(koord::sched_latency::open_probe(real_tree(), options)).probe;
  CpuBlame blame = must(CpuBlame::open(real_tree()));
  {
    const auto serving = start_in(cgroup, serve), other = start_in(cgroup, serve);
    REQUIRE(eventually([&] { return of(must(probe->read({})), id).count >= 3000; }, 60s));
  }
  const Waits ours = of(must(blame.read(Lengths::all)).waits, id), theirs = of(must(probe->read({})), id);
  MESSAGE("waits " << ours.count << " and " << theirs.count << ", sum " << double(ours.sum_ns) / 1e6 << " and "
                   << double(theirs.sum_ns) / 1e6 << " ms");
  CHECK(double(ours.count) == doctest::Approx(double(theirs.count)).epsilon(0.01));
  // All waits together are about 20 ms. Sometimes a wait of a few ms differs.
  CHECK(double(ours.sum_ns) == doctest::Approx(double(theirs.sum_ns)).epsilon(0.02).scale(500e6));
  for (std::size_t i = 0; i < koord::latency::kBuckets; ++i)
    CHECK_MESSAGE(std::fabs(share(ours, i) - share(theirs, i)) <= 0.01, "bucket " << i);
}

TEST_CASE("sched-latency takes its own programs out of the kernel while interference measures") {
  BothAdvisors both;
  both.pass(10);
  CHECK_FALSE(both.reads_from("interference"));
  both.start_interference();
  both.pass(20);
  CHECK(both.reads_from("interference"));
  CHECK(both.reports_waits());
}

TEST_CASE("sched-latency measures itself again when interference has ended, and borrows again when it is back") {
  BothAdvisors both;
  both.start_interference();
  both.pass(20);
  REQUIRE(both.reads_from("interference"));
  both.interference.reset();
  both.pass(15);
  CHECK_FALSE(both.reads_from("interference"));
  CHECK(both.reports_waits());
  both.start_interference();
  both.pass(20);
  CHECK(both.reads_from("interference"));
}

TEST_CASE("a restart of interference between two periods keeps its programs the only ones") {
  BothAdvisors both;
  both.start_interference();
  both.pass(20);
  both.interference.reset();
  both.start_interference();
  for (int period = 0; period < 4; ++period) {
    both.pass(5);
    CHECK(both.reads_from("interference"));
  }
  CHECK(both.reports_waits());
}

TEST_CASE("interference posts no waits after sched-latency has ended") {
  BothAdvisors both;
  both.start_interference();
  both.pass(20);
  REQUIRE(both.reads_from("interference"));
  both.sched.reset();
  for (int second = 0; second < 60; ++second) {
    both.host.clock().advance(1s);
    REQUIRE(both.interference->collect() == KOORD_OK);
  }
  CHECK_FALSE(both.host.store().get(std::string(koord::latency::kPostedWaits)).has_value());
}

TEST_CASE("waits of a container reach its series while interference measures them") {
  const RealCgroup cgroup("shared");
  BothAdvisors both(&cgroup);
  const auto serving = start_in(cgroup, serve);
  both.start_interference();
  both.pass(30);
  REQUIRE(both.reads_from("interference"));
  const auto post = both.host.store().get(std::string(koord::latency::kPostedWaits));
  REQUIRE(post);
  MESSAGE("a post has " << post->size() << " bytes for " << both.host.value("sched_latency_slots_used").value_or(0)
                        << " cgroups");
  CHECK(eventually([&] {
    both.pass(5);
    return both.host.value("container_sched_latency_p50_seconds", {{"container_name", cgroup.dir()}}).value_or(-1) > 0;
  }));
}

TEST_CASE("a post that is damaged, or that never changes, is no reason to stop measuring") {
  BothAdvisors both;
  const koord::plugin::Kv as_interference(both.interference_context->host());
  for (const std::string& text : {std::string("\x01\x02"), std::string(100'000, '\xff'),
                                  koord::latency::write_posted_waits({.session = 5, .number = 9, .reading = {}})}) {
    as_interference.set("waits", text);
    both.pass(20);
    CHECK_FALSE(both.reads_from("interference"));
  }
  CHECK(both.reports_waits());
}

int main(int argc, char** argv) {
  std::optional<std::string> skipped = RealCgroup::unavailable();
  if (argc < 3) skipped = "the files of two plugins are expected as arguments";
  if (!skipped)
    if (auto blame = CpuBlame::open(real_tree()); !blame) skipped = blame.error().message();
  if (skipped) {
    std::printf("SKIPPED: %s\n", skipped->c_str());
    return kSkip;
  }
  sched_file = argv[1];
  interference_file = argv[2];
  return doctest::Context(argc, argv).run();
}
