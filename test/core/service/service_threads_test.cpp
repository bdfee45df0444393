// SPDX-License-Identifier: Apache-2.0
// Calls services from several threads. ThreadSanitizer finds data races in it.
#include <fcntl.h>
#include <sys/stat.h>

#include <atomic>
#include <thread>

#include "test/core/service/service_fixture.hpp"

using namespace koord;
using namespace koord::test;

namespace {

void publish_pods(FakeHost& host, int round) {
  state::Update update;
  update.pods.emplace();
  for (int i = 0; i < 3; ++i) {
    state::Pod pod;
    pod.uid = pod.name = "u" + std::to_string(round + i);
    update.pods->push_back(pod);
  }
  host.hub().publish(std::move(update));
}

// Runs one tick of an advisor that measures every pod. Returns false if a call fails that must not fail.
bool tick(FakeHost& host, const koord_host* abi, std::uint32_t metric) {
  const auto* metrics = host.service<koord_svc_metrics>("koord.metrics/1");
  const auto* state = host.service<koord_svc_state>("koord.state/1");
  std::vector<koord_point> points;
  const plugin::Snapshot snapshot(abi, state);
  for (const koord_pod& pod : snapshot.pods()) {
    std::uint64_t series = 0;
    const koord_status made = metrics->series(abi, metric, pod.handle, nullptr, 0, 0, &series);
    if (made == KOORD_OK) points.push_back({series, 1});
    if (made != KOORD_OK && made != KOORD_E_GONE) return false;
  }
  return metrics->append(abi, to_ns(host.clock().now()), points.data(), static_cast<std::uint32_t>(points.size()),
                         sizeof(koord_point)) == KOORD_OK;
}

}  // namespace

TEST_CASE("plugins measure pods on many threads while pods come and go") {
  FakeNode node;
  FakeHost host(node);
  publish_pods(host, 0);
  std::atomic<int> failures = 0;
  auto advisor = [&](int number) {
    auto context = host.make_context("p" + std::to_string(number), {"koord.metrics/1", "koord.state/1"});
    const koord_host* abi = context->host();
    const std::string name = "usage_" + std::to_string(number);
    const koord_metric_desc desc = {sizeof desc, KOORD_GAUGE, 1, 0, str(name), str(""), str(""), 1, nullptr};
    std::uint32_t metric = 0;
    host.service<koord_svc_metrics>("koord.metrics/1")->define(abi, &desc, &metric);
    for (int i = 0; i < 100; ++i) failures += tick(host, abi, metric) ? 0 : 1;
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) threads.emplace_back(advisor, i);
  for (int round = 1; round < 50; ++round) publish_pods(host, round);
  for (std::thread& thread : threads) thread.join();
  CHECK(failures == 0);
}

TEST_CASE("no series outlives its subject, however late it was asked for") {
  FakeNode node;
  FakeHost host(node);
  publish_pods(host, 0);
  const auto* metrics = host.service<koord_svc_metrics>("koord.metrics/1");
  const koord_metric_desc desc = {sizeof desc, KOORD_GAUGE, 1, 0, str("usage"), str(""), str(""), 1, nullptr};
  std::uint32_t metric = 0;
  REQUIRE(metrics->define(host.abi(), &desc, &metric) == KOORD_OK);
  std::thread publisher([&] {
    for (int round = 1; round < 300; ++round) publish_pods(host, round * 3);
  });
  for (int i = 0; i < 300; ++i) tick(host, host.abi(), metric);
  publisher.join();
  CHECK(host.metrics().live_series("test") <= 3);
}

TEST_CASE("a read of a cgroup that does not return blocks only its plugin, and others get \"try again\"") {
  FakeNode node({{"cgroup/cgroup.controllers", "cpu pids\n"}, {"cgroup/a/cpu.stat", "usage_usec 5\n"}});
  // Opening a named pipe waits for a writer, as with a hung mount.
  REQUIRE(::mkfifo(node.path("cgroup/a/pids.current").c_str(), 0600) == 0);
  FakeHost host(node);
  const auto* cgroups = host.service<koord_svc_cgroup>("koord.cgroup/1");
  auto ask = [&](const koord_host* abi, std::string_view file, std::string_view key, std::int64_t* value) {
    const koord_str wanted = str(key);
    std::uint64_t handle = 0;
    const koord_status opened = cgroups->open(abi, str("a"), str(file), &wanted, 1, &handle);
    return opened == KOORD_OK ? cgroups->read(abi, handle, value, 1, nullptr) : opened;
  };
  std::atomic<int> again = 0;
  auto stuck = [&](const koord_host* abi) {
    std::int64_t value = 0;
    again += ask(abi, "pids.current", "pids", &value) == KOORD_E_AGAIN;
  };
  auto second = host.make_context("second", {"koord.cgroup/1"});
  auto third = host.make_context("third", {"koord.cgroup/1"});
  std::thread one(stuck, host.abi()), two(stuck, second->host());
  for (int i = 0; i < 60'000 && again == 0; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  CHECK(again == 1);
  std::int64_t usage = 0;
  CHECK(ask(third->host(), "cpu.usage", "usage_ns", &usage) == KOORD_OK);
  CHECK(ask(host.abi(), "cpu.usage", "usage_ns", &usage) == KOORD_OK);
  CHECK(ask(second->host(), "cpu.usage", "usage_ns", &usage) == KOORD_OK);
  CHECK(usage == 5000);
  const int writer = ::open(node.path("cgroup/a/pids.current").c_str(), O_WRONLY | O_CLOEXEC);
  one.join();
  two.join();
  ::close(writer);
  CHECK(again == 1);
}
