// SPDX-License-Identifier: Apache-2.0
#include "core/workshop/bench.hpp"

#include <doctest/doctest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <thread>

#include "core/child/snapshot_images.hpp"
#include "core/workshop/measured_child.hpp"
#include "core/workshop/run_node.hpp"
#include "core/workshop/sample_node.hpp"
#include "test/support/sanitized.hpp"

using namespace koord;
using namespace koord::workshop;

namespace {

void call_kernel(int times) {
  for (int i = 0; i < times; ++i) ::syscall(SYS_getppid);
}

Result<std::unique_ptr<RunNode>> node_without_pods() { return make_hasty_node({.pods = R"({"items": []})"}); }
Result<std::unique_ptr<RunNode>> node_with_pods() { return make_replayed_node(sample_node()); }

Result<BenchResult> bench_gauge(config::Isolation isolation, BenchSettings settings,
                                Result<std::unique_ptr<RunNode>> (*node)() = node_without_pods) {
  child::SnapshotImages images;
  const OpenedPlugin piece = *open_plugin(std::getenv("KOORD_GAUGE"));
  return bench(piece, {isolation, std::getenv("KOORD_PLUGIN_HOST"), images}, node, settings);
}

}  // namespace

TEST_CASE("a traced child's system calls are counted while it says so, those of its threads, too") {
  MeasuredChild<CountedCalls> child;
  REQUIRE(child.run_traced([](CountedCalls& counted) -> Result<void> {
    call_kernel(100);
    counted.counting = true;
    call_kernel(10);
    counted.counting = false;
    // While the other thread counts system calls, this thread must make none: neither to finish its creation nor to
    // wait for its end.
    std::atomic<bool> made{false}, done{false};
    std::thread thread([&] {
      while (!made) continue;
      counted.counting = true;
      call_kernel(5);
      counted.counting = false;
      done = true;
    });
    made = true;
    while (!done) continue;
    thread.join();
    call_kernel(100);
    return {};
  }));
  // A sanitizer may have its own thread, which makes system calls at any time.
  if (test::kSanitized)
    CHECK(child.value().calls >= 15);
  else
    CHECK(child.value().calls == 15);
}

TEST_CASE("a child's error and its death are reported") {
  MeasuredChild<int> child;
  CHECK(child.run([](int& value) -> Result<void> { return value = 7, invalid("too short"); }).error().message() ==
        "too short");
  CHECK(child.value() == 7);
  auto crash = [](int&) -> Result<void> {
    ::signal(SIGSEGV, SIG_DFL);
    ::raise(SIGSEGV);
    return {};
  };
  CHECK(child.run(crash).error().message() == "the plugin ended its process by Segmentation fault");
  CHECK(child.run([](int&) -> Result<void> { ::_exit(3); }).error().message() ==
        "the plugin ended its process with exit code 3");
}

TEST_CASE("both isolations are measured by the same figures") {
  for (auto isolation : {config::Isolation::in_process, config::Isolation::process}) {
    Result<BenchResult> result = bench_gauge(isolation, {.ticks = 50});
    REQUIRE_MESSAGE(result, result.error().message());
    CHECK(result->median > Duration());
    CHECK(result->p99 >= result->median);
    CHECK(result->start > result->median);
    CHECK(result->private_bytes > 100'000);
    CHECK(!result->allocations);  // not counted here
    // A tick at least opens, reads and closes a file. A plugin process also receives the request and answers it.
    REQUIRE(result->system_calls);
    CHECK(*result->system_calls >= (isolation == config::Isolation::process ? 6 : 3));
  }
}

TEST_CASE("a hook's answers about recorded pods are measured, each pod and container in turn") {
  for (auto isolation : {config::Isolation::in_process, config::Isolation::process}) {
    Result<BenchResult> result = bench_gauge(isolation, {.class_name = "shares", .ticks = 50}, node_with_pods);
    REQUIRE_MESSAGE(result, result.error().message());
    CHECK(result->is_hook);
    CHECK(result->median > Duration());
    CHECK(result->p99 >= result->median);
    REQUIRE(result->system_calls);
    if (isolation == config::Isolation::process) CHECK(*result->system_calls >= 2);
  }
}

TEST_CASE("a plugin that cannot be measured is reported") {
  CHECK(bench_gauge(config::Isolation::in_process, {.class_name = "shares"}).error().message() ==
        "the node has no pod to ask the hook about: expected some in --pods");
  CHECK(bench_gauge(config::Isolation::in_process, {.ticks = 0}).error().message() == "0 ticks, expected at least 1");
  CHECK(bench_gauge(config::Isolation::in_process, {.config_json = R"({"capAbove": true})"})
            .error()
            .message()
            .find("/capAbove") != std::string::npos);
}
