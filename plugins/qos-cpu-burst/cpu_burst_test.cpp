// SPDX-License-Identifier: Apache-2.0
#include "plugins/qos-cpu-burst/cpu_burst.hpp"

#include <doctest/doctest.h>

#include <map>

#include "plugins/qos-cpu-burst/burst_pods.hpp"
#include "test/support/fake_samples.hpp"

using namespace koord::cpu_burst;
using koord::slo::BurstPolicy;
using koord::strategy::Wish;
using koord::strategy::Wishes;
using koord::test::FakeHost;
using koord::test::FakeInstance;
using koord::test::FakeNode;
using koord::test::FakeSamples;
using namespace std::chrono_literals;
using Burst = koord::cpu_burst::CpuBurst;
using Settings = koord::slo::CpuBurst;
namespace state = koord::state;

namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;

double tokens_after(std::int64_t period, std::int64_t percent, double start, double usage) {
  Limiter limiter(period, percent, start, 0);
  limiter.take(usage, 10 * kSecond);
  return limiter.tokens();
}

// 16 CPUs of which a pod of LSR has 8, the node uses 10.
Pool pool_when_lsr_uses(double cores) { return {16 - 8, 10 - cores, 50}; }

Settings settings(BurstPolicy policy = BurstPolicy::automatic) { return {policy, 1000, 300, -1, 50}; }

// What a container of two cores has next, in the order of the decision.
std::int64_t next(std::int64_t now, const Settings& settings, std::optional<double> throttled, PoolState pool, bool may = true) {
  return next_quota(allowed(wanted(settings, may, throttled), pool), now, 200'000, settings);
}

Container container(std::string id, std::int64_t limit_milli = 2000, double throttled = 0.5, std::uint64_t at_ns = 0) {
  Container container;
  container.id = container.name = std::move(id);
  container.cgroup_dir = "pod/" + container.id;
  container.is_running = true;
  container.limit_milli = limit_milli;
  container.throttled = Throttled{throttled, at_ns};
  container.usage_cores = static_cast<double>(limit_milli) / 1000;
  container.quota = Bandwidth{quota_of(limit_milli, 100'000), 100'000};
  return container;
}

Pod pod(std::vector<Container> containers, Settings of = settings(BurstPolicy::cfs_quota_burst_only)) {
  Pod pod;
  pod.name = "shop/cart";
  pod.cgroup_dir = "pod";
  pod.settings = of;
  pod.containers = std::move(containers);
  std::int64_t quota = 0;
  for (const Container& one : pod.containers) quota += one.quota->quota_us;
  pod.quota = Bandwidth{quota, 100'000};
  return pod;
}

Situation at(std::uint64_t seconds, std::vector<Pod> pods, Pool pool = {100, 10, 50}) { return {seconds * kSecond, pool, std::move(pods)}; }

std::string value(const Wishes& wishes, std::string_view knob, std::string_view dir) {
  for (const Wish& wish : wishes)
    if (wish.knob == knob && wish.cgroup_dir == dir) return wish.value;
  return "";
}

}  // namespace

TEST_CASE("limiter: use above the limit takes from the bucket, use below 60 % gives to it, both no further than its capacity") {
  CHECK(tokens_after(100, 150, 1.0, 150) == doctest::Approx(4500));
  CHECK(tokens_after(100, 150, 0.01, 200) == doctest::Approx(-950));
  CHECK(tokens_after(10, 150, 0.01, 200) == doctest::Approx(-500));
  CHECK(tokens_after(100, 150, 0.1, 40) == doctest::Approx(1100));
  CHECK(tokens_after(100, 150, 0.9, 40) == doctest::Approx(5000));
  CHECK(tokens_after(100, 150, 0.1, 60) == doctest::Approx(500));
  CHECK(tokens_after(100, 150, 0.1, 99.9) == doctest::Approx(500));
}

TEST_CASE("limiter: a bucket that is not empty allows, parts of seconds count, and without a measurement nothing changes") {
  Limiter limiter(100, 150, 0.01, 0);
  CHECK(limiter.allows());
  limiter.take(std::nullopt, 10 * kSecond);
  CHECK(limiter.tokens() == doctest::Approx(50));
  limiter.take(150, 10 * kSecond + kSecond / 2);
  CHECK(limiter.tokens() == doctest::Approx(25));
  limiter.take(150, 11 * kSecond);
  CHECK_FALSE(limiter.allows());
}

TEST_CASE("limiter: a period of 0 or a percent of 100 or less leaves nothing to take from") {
  CHECK_FALSE(Limiter(0, 300, 0.4, 0).allows());
  CHECK_FALSE(Limiter(100, 100, 0.4, 0).allows());
  CHECK_FALSE(Limiter(100, 90, 0.4, 0).allows());
}

TEST_CASE("limiter: a container's bucket begins where its id says, always the same and less than half full") {
  CHECK(start_of("containerd://a") == start_of("containerd://a"));
  CHECK(start_of("containerd://a") != start_of("containerd://b"));
  double sum = 0;
  for (int i = 0; i < 1000; ++i) {
    const double start = start_of("containerd://" + std::to_string(i));
    CHECK((start >= 0 && start < 0.5));
    sum += start;
  }
  CHECK(sum / 1000 == doctest::Approx(0.25).epsilon(0.1));
}

TEST_CASE("the shared pool is overloaded from its threshold on, cooling from 90 % of it, idle below") {
  CHECK(state_of(pool_when_lsr_uses(7)) == PoolState::idle);
  CHECK(state_of(pool_when_lsr_uses(5)) == PoolState::overload);
  CHECK(state_of(pool_when_lsr_uses(6.25)) == PoolState::cooling);
  CHECK(state_of({0, 0, 50}) == PoolState::overload);
  CHECK(pool_when_lsr_uses(7).room() == doctest::Approx(0.6));
  CHECK(pool_when_lsr_uses(5).room() == 0);
}

TEST_CASE("what an average does not show yet of a change fades over its window") {
  Unseen unseen(4 * kSecond);
  unseen.changed(2, 10 * kSecond);
  CHECK(unseen.cores(10 * kSecond) == doctest::Approx(2));
  CHECK(unseen.cores(11 * kSecond) == doctest::Approx(1.5));
  unseen.changed(-1, 11 * kSecond);
  CHECK(unseen.cores(13 * kSecond) == doctest::Approx(0.5 - 0.5));
  CHECK(unseen.cores(15 * kSecond) == 0);
}

TEST_CASE("quota: up by 20 % while it is held back and the pool is idle, down by 20 % while it is overloaded, within base and percent") {
  const Settings quota = settings(BurstPolicy::cfs_quota_burst_only);
  CHECK(next(400'000, settings(BurstPolicy::cpu_burst_only), 0.5, PoolState::idle) == 200'000);
  CHECK(next(400'000, quota, 0.5, PoolState::cooling) == 400'000);
  CHECK(next(400'000, quota, 0.5, PoolState::overload) == 320'000);
  CHECK(next(202'000, quota, 0.5, PoolState::overload) == 200'000);
  CHECK(next(400'000, quota, 0.5, PoolState::idle) == 480'000);
  CHECK(next(590'000, quota, 0.5, PoolState::idle) == 600'000);
  CHECK(next(400'000, quota, 0.0, PoolState::idle) == 400'000);
  CHECK(next(400'000, quota, std::nullopt, PoolState::idle) == 400'000);
  CHECK(next(400'000, quota, 0.5, PoolState::unknown) == 400'000);
}

TEST_CASE("quota: a limiter that does not allow lowers it, a percent below 100 is the base") {
  Settings quota = settings(BurstPolicy::cfs_quota_burst_only);
  CHECK(next(400'000, quota, 0.5, PoolState::idle, Limiter(0, 300, 0.4, 0).allows()) == 320'000);
  quota.cfs_quota_burst_percent = 90;
  CHECK(next(400'000, quota, 0.5, PoolState::idle, Limiter(10, 90, 0.4, 0).allows()) == 200'000);
}

TEST_CASE("quota: no node state turns what lowers a quota into anything else") {
  for (PoolState state : {PoolState::unknown, PoolState::idle, PoolState::cooling, PoolState::overload}) {
    CHECK(allowed(Operation::reset, state) == Operation::reset);
    CHECK(allowed(Operation::scale_down, state) == Operation::scale_down);
  }
}

TEST_CASE("a bandwidth is read as the kernel writes it; no limit and what is no bandwidth are nothing") {
  CHECK(parse_bandwidth("20000 100000") == Bandwidth{20'000, 100'000});
  for (const char* text : {"max 100000", "20000", "", "-1 100000", "20000 0", "x y", "99999999999999999 100000"})
    CHECK_FALSE(parse_bandwidth(text));
  CHECK(quota_of(5, 100'000) == 1000);  // the kernel's least
  CHECK(quota_of(2500, 50'000) == 125'000);
}

TEST_CASE("static burst: each container with a limit may keep its percent of it, no more than its quota, and the pod their sum") {
  Burst burst(5 * kSecond);
  Pod one = pod({container("a", 2000), container("b", 500)}, settings(BurstPolicy::cpu_burst_only));
  Wishes wishes = burst.plan(at(1, {one}));
  CHECK(value(wishes, "cpu.max.burst", "pod/a") == "200000");
  CHECK(value(wishes, "cpu.max.burst", "pod/b") == "50000");
  CHECK(value(wishes, "cpu.max.burst", "pod") == "250000");
  CHECK(wishes.size() == 3);
  one.settings.cpu_burst_percent = 50;
  wishes = burst.plan(at(1, {one}));
  CHECK(value(wishes, "cpu.max.burst", "pod/a") == "100000");
  burst.set_burst_above_quota(true);
  one.settings.cpu_burst_percent = 1000;
  CHECK(value(burst.plan(at(1, {one})), "cpu.max.burst", "pod/a") == "2000000");
}

TEST_CASE("static burst: a container without a limit has none, and then its pod has none either") {
  Burst burst(5 * kSecond);
  Container free = container("free", 0);
  free.quota = Bandwidth{1, 1};
  const Wishes wishes = burst.plan(at(1, {pod({container("a"), free}, settings(BurstPolicy::cpu_burst_only))}));
  REQUIRE(wishes.size() == 1);
  CHECK(wishes[0].cgroup_dir == "pod/a");
}

TEST_CASE("policy none wishes for nothing at all, so that nothing of other agents is pulled back") {
  Burst burst(5 * kSecond);
  CHECK(burst.plan(at(1, {pod({container("a")}, settings(BurstPolicy::none))})).empty());
}

TEST_CASE("a container that is held back gets a fifth more, and its pod as much more as its containers") {
  Burst burst(5 * kSecond);
  const Wishes wishes = burst.plan(at(1, {pod({container("a"), container("b", 1000, 0)})}));
  REQUIRE(wishes.size() == 2);
  CHECK(wishes[0].value == "240000 100000");
  CHECK(wishes[0].reason ==
        "container a is held back by its quota in 50 % of its periods, and the shared CPUs are idle, 10.00 of 100.00 cores in use, "
        "threshold 50.00 %: quota raised, 2.40 cores for a limit of 2.00");
  CHECK(value(wishes, "cpu.max", "pod") == "340000 100000");
}

TEST_CASE("a raised quota is held when the container is held back no more, and lowered to where it began while the pool is overloaded") {
  Burst burst(5 * kSecond);
  Container a = container("a");
  burst.plan(at(1, {pod({a})}));
  a.quota = Bandwidth{240'000, 100'000};
  a.throttled = Throttled{0, 2 * kSecond};
  Pod one = pod({a});
  CHECK(burst.reads_quota(one.settings, a));
  CHECK(value(burst.plan(at(2, {one})), "cpu.max", "pod/a") == "240000 100000");
  CHECK(value(burst.plan(at(20, {one}, {100, 60, 50})), "cpu.max", "pod/a") == "");  // 192000 is less than it began with
  CHECK_FALSE(burst.reads_quota(one.settings, a));
}

TEST_CASE("one measurement moves a quota once, however seldom it is measured") {
  Burst burst(5 * kSecond);
  Container a = container("a", 2000, 0.5, kSecond / 2);
  burst.plan(at(1, {pod({a})}));
  a.quota = Bandwidth{240'000, 100'000};
  CHECK(value(burst.plan(at(2, {pod({a})})), "cpu.max", "pod/a") == "240000 100000");
  a.throttled->at_ns = 5 * kSecond / 2;
  CHECK(value(burst.plan(at(3, {pod({a})})), "cpu.max", "pod/a") == "288000 100000");
}

TEST_CASE("a container without a quota of its own in the kernel is left alone, as is one that waits or has no limit") {
  Burst burst(5 * kSecond);
  Container unlimited = container("a"), waits = container("b"), free = container("c", 0);
  Pod one = pod({unlimited, waits, free});
  one.containers[0].quota.reset();
  one.containers[1].is_running = false;
  CHECK(burst.plan(at(1, {one})).empty());
}

TEST_CASE("a pod without a limit stays without") {
  Burst burst(5 * kSecond);
  Pod one = pod({container("a")});
  one.quota.reset();
  const Wishes wishes = burst.plan(at(1, {one}));
  REQUIRE(wishes.size() == 1);
  CHECK(wishes[0].cgroup_dir == "pod/a");
}

TEST_CASE("a quota that somebody holds below the limit bursts from there, not back to the limit") {
  Burst burst(5 * kSecond);
  Pod one = pod({container("a")});
  one.containers[0].quota = Bandwidth{100'000, 100'000};
  CHECK(value(burst.plan(at(1, {one})), "cpu.max", "pod/a") == "120000 100000");
}

TEST_CASE("a limit that changes lets go of what was raised") {
  Burst burst(5 * kSecond);
  Container a = container("a");
  burst.plan(at(1, {pod({a})}));
  a = container("a", 3000, 0, 2 * kSecond);
  CHECK(burst.plan(at(2, {pod({a})})).empty());
}

TEST_CASE("containers that are raised together share the room that the pool has before it cools") {
  Burst burst(5 * kSecond);
  const Pod one = pod({container("a"), container("b")});
  CHECK(value(burst.plan(at(1, {one}, {10, 4.3, 50})), "cpu.max", "pod/a") == "210000 100000");  // 0.2 cores for two
  CHECK(value(Burst(5 * kSecond).plan(at(1, {one}, {10, 3.6, 50})), "cpu.max", "pod/a") == "240000 100000");
}

TEST_CASE("what was raised counts as used before the average shows it") {
  Burst burst(5 * kSecond);
  Container a = container("a");
  burst.plan(at(1, {pod({a})}, {10, 4.1, 50}));
  a.quota = Bandwidth{240'000, 100'000};
  a.throttled->at_ns = 3 * kSecond / 2;
  // 4.1 + 4/5 of 0.4 leave 0.08
  CHECK(value(burst.plan(at(2, {pod({a})}, {10, 4.1, 50})), "cpu.max", "pod/a") == "248000 100000");
}

TEST_CASE("in shadow, where nothing is written, nothing counts as used, and a wish is one step from where it is") {
  Burst burst(5 * kSecond);
  Container a = container("a");
  for (std::uint64_t second = 1; second < 10; ++second) {
    a.throttled->at_ns = second * kSecond - 1;
    CHECK(value(burst.plan(at(second, {pod({a})}, {10, 4.1, 50})), "cpu.max", "pod/a") == "240000 100000");
  }
}

TEST_CASE("an unknown pool raises nothing") {
  Burst burst(5 * kSecond);
  CHECK(burst.plan({kSecond, std::nullopt, {pod({container("a")})}}).empty());
}

TEST_CASE("a container that has used up its bucket falls back to its limit") {
  Burst burst(5 * kSecond);
  Settings limited = settings(BurstPolicy::cfs_quota_burst_only);
  limited.cfs_quota_burst_period_seconds = 1;  // 200 percent-seconds at most
  Container a = container("a");
  a.usage_cores = 4;
  std::uint64_t second = 0;
  const auto round = [&] {
    a.throttled->at_ns = ++second * kSecond - 1;
    const std::string text = value(burst.plan(at(second, {pod({a}, limited)})), "cpu.max", "pod/a");
    a.quota = text.empty() ? Bandwidth{200'000, 100'000} : *parse_bandwidth(text);
    return a.quota->quota_us;
  };
  for (int i = 0; i < 20; ++i) round();
  CHECK(a.quota->quota_us == 200'000);
  a.usage_cores = 0.5;  // saves
  for (int i = 0; i < 20; ++i) round();
  CHECK(a.quota->quota_us > 200'000);
}

namespace {

constexpr const char* kPodDir = "kubepods.slice/kubepods-burstable.slice/kubepods-burstable-podu1.slice";
const std::string kContainerDir = std::string(kPodDir) + "/cri-containerd-c1.scope";

state::Pod state_pod() {
  state::Pod pod;
  pod.uid = "u1";
  pod.namespace_ = "shop";
  pod.name = "cart";
  pod.kube_qos = state::KubeQos::burstable;
  pod.koord_qos = state::KoordQos::ls;
  pod.phase = state::Phase::running;
  pod.cgroup_dir = kPodDir;
  pod.resources = {{"cpu", 1000, 2000}};
  state::Container container;
  container.id = "containerd://c1";
  container.name = "web";
  container.state = state::ContainerState::running;
  container.cgroup_dir = kContainerDir;
  container.resources = {{"cpu", 1000, 2000}};
  pod.containers = {container};
  return pod;
}

FakeNode v2_node() {
  return FakeNode({{"cgroup/cgroup.controllers", "cpu\n"},
                   {std::string("cgroup/") + kPodDir + "/cpu.max", "200000 100000\n"},
                   {"cgroup/" + kContainerDir + "/cpu.max", "200000 100000\n"}});
}

state::Topology eight_cpus() {
  state::Topology topology;
  for (int cpu = 0; cpu < 8; ++cpu) topology.cpus.push_back({.cpu = cpu, .online = true});
  return topology;
}

constexpr const char* kAuto = R"({"cpuBurstStrategy": {"policy": "auto", "cpuBurstPercent": 1000, "cfsQuotaBurstPercent": 300,
  "cfsQuotaBurstPeriodSeconds": -1, "sharePoolThresholdPercent": 50}})";

std::map<std::string, std::string> wished(FakeHost& host) {
  std::map<std::string, std::string> values;
  for (const koord::knob::Intent& intent : host.context().take_plan())
    values[intent.knob + (intent.cgroup_dir == kPodDir ? " of the pod" : " of the container")] = intent.value;
  return values;
}

using Values = std::map<std::string, std::string>;

}  // namespace

TEST_CASE("the plugin raises the quota of a container that is held back while the shared CPUs are idle") {
  const FakeNode node = v2_node();
  FakeHost host(node);
  host.hub().publish({.pods = std::vector{state_pod()}, .node_slo = kAuto, .topology = eight_cpus()});
  FakeSamples samples(host);
  const std::uint64_t handle = host.hub().current()->pods[0].containers[0].handle;
  FakeInstance strategy(host, koord_entry_v1());
  REQUIRE(strategy.init() == KOORD_OK);
  samples.add("node_cpu_usage", 2.5);
  samples.add("container_cpu_throttled", 0.4, handle);
  REQUIRE(strategy.evaluate() == KOORD_OK);
  CHECK(wished(host) == Values{{"cpu.max.burst of the container", "200000"},
                               {"cpu.max.burst of the pod", "200000"},
                               {"cpu.max of the container", "240000 100000"},
                               {"cpu.max of the pod", "240000 100000"}});
  CHECK(host.value("container_scaled_cfs_quota_us", {{"container_name", "web"}}) == 240'000.0);
  CHECK(host.value("container_scaled_cfs_burst_us", {{"pod_name", "cart"}}) == 200'000.0);
  host.hub().publish({.node_slo = R"({"cpuBurstStrategy": {"policy": "none"}})"});
  REQUIRE(strategy.evaluate() == KOORD_OK);
  CHECK(wished(host).empty());
  CHECK(host.series("container_scaled_cfs_quota_us").empty());
}

TEST_CASE("the plugin lets a pod's annotation replace the node's strategy, and wishes for nothing without a NodeSLO") {
  const FakeNode node = v2_node();
  FakeHost host(node);
  state::Pod pod = state_pod();
  pod.annotations = {{"koordinator.sh/cpuBurst", R"({"policy": "cpuBurstOnly", "cpuBurstPercent": 50})"}};
  host.hub().publish({.pods = std::vector{pod}, .topology = eight_cpus()});
  FakeSamples samples(host);
  FakeInstance strategy(host, koord_entry_v1());
  REQUIRE(strategy.init() == KOORD_OK);
  REQUIRE(strategy.evaluate() == KOORD_OK);
  CHECK(wished(host).empty());
  host.hub().publish({.node_slo = kAuto});
  samples.add("container_cpu_throttled", 0.4, host.hub().current()->pods[0].containers[0].handle);
  REQUIRE(strategy.evaluate() == KOORD_OK);
  CHECK(wished(host) == Values{{"cpu.max.burst of the container", "100000"}, {"cpu.max.burst of the pod", "100000"}});
}

TEST_CASE("pods of LSE, LSR and BE do not burst, and what they use and have is not the shared pool's") {
  struct Row {
    std::string label;
    std::size_t bursts, outside;
    double cores;
  };
  for (const Row& row : {Row{"LSE", 0, 1, 1}, Row{"LSR", 0, 1, 1}, Row{"BE", 0, 1, 0}, Row{"LS", 1, 0, 0}, Row{"SYSTEM", 1, 0, 0},
                         Row{"", 1, 0, 0}}) {
    CAPTURE(row.label);
    const FakeNode node = v2_node();
    FakeHost host(node);
    state::Pod pod = state_pod();
    if (!row.label.empty()) pod.labels = {{"koordinator.sh/qosClass", row.label}};
    pod.koord_qos = row.label == "BE" ? state::KoordQos::be : state::KoordQos::ls;
    host.hub().publish({.pods = std::vector{pod}});
    const koord::plugin::Snapshot snapshot(host.abi(), host.service<koord_svc_state>("koord.state/1"));
    const auto taken = snapshot_of(snapshot.pods(), settings());
    CHECK(taken.pods.size() == row.bursts);
    CHECK(taken.outside.size() == row.outside);
    CHECK(taken.exclusive_cores == row.cores);
  }
}
