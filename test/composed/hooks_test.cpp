// SPDX-License-Identifier: Apache-2.0
// Runtime hooks without a runtime that asks them: the hooks' answers for running pods, together with a strategy, with
// every interruption.
#include <doctest/doctest.h>

#include <string>

#include "test/composed/strategy_rows.hpp"
#include "test/support/eventually.hpp"

using namespace koord::test;

namespace {

const std::string kBatchResources =
    "{requests: {kubernetes.io/batch-cpu: 500, kubernetes.io/batch-memory: 64Mi}, limits: {kubernetes.io/batch-cpu: 800, "
    "kubernetes.io/batch-memory: 128Mi}}";

Sessions::Given with_hooks(const char* first) {
  Sessions::Given given{.plugins = {first},
                        .gates = "BatchResource=true,CPUNormalization=true",
                        .node_slo = spec(kBurst),
                        .batch_resources = kBatchResources,
                        .node_annotations = "{node.koordinator.sh/cpu-normalization-ratio: \"1.25\"}"};
  for (const char* plugin : {"qos-cpu-burst", "hook-cpu-normalization", "hook-batch-resource"})
    if (plugin != std::string(first)) given.plugins.emplace_back(plugin);
  return given;
}

std::string quota(const Sessions& node, const std::string& microseconds) {
  return node.pods.is_v2() ? microseconds + " 100000" : microseconds;
}

// The service: limit 100m × 2 (burst) / 1.25; 8000 before the first burst. The batch pod: requests 500 and limits 800
// milli-cores, and has 128 MiB.
void expect_hooks(Sessions& node) {
  for (const RealCgroup* cgroup : {&node.pods.service_pod, &node.pods.service})
    node.expect(node.quota_file(*cgroup), {quota(node, "16000"), quota(node, "8000")});
  for (const RealCgroup* cgroup : {&node.pods.batch_pod, &node.pods.batch}) {
    node.expect(node.quota_file(*cgroup), {quota(node, "80000")});
    if (!node.pods.is_v2()) node.expect(node.file(*cgroup, koord::cgroup::Controller::cpu, "cpu.shares"), {"512"});
    node.expect(node.file(*cgroup, koord::cgroup::Controller::memory,
                          node.pods.is_v2() ? "memory.max" : "memory.limit_in_bytes"),
                {"134217728"});
  }
}

}  // namespace

TEST_CASE("hooks and burst: base x scale x scale on one quota, batch limits on another pod, with every interruption") {
  Sessions node(with_hooks("qos-cpu-burst"));
  expect_hooks(node);
  REQUIRE(node.start());
  REQUIRE_MESSAGE(node.settles(), node.unsettled() << node.agent->log());
  const std::string why = node.agent->ctl({"why", "default/service"}).output;
  CHECK_MESSAGE(why.find("base 10000 (limit 100m) × 0.8 (hook-cpu-normalization) × 2 (qos-cpu-burst), no cap") !=
                    std::string::npos,
                why);
  const std::string why_batch = node.agent->ctl({"why", "default/batch"}).output;
  CHECK_MESSAGE(why_batch.find("base 80000 (hook-batch-resource)") != std::string::npos, why_batch);
  for (const Interruption interruption : kInterruptions) {
    INFO("after " << name_of(interruption));
    node.interrupt(interruption);
    CHECK_MESSAGE(node.settles(), node.unsettled());
    CHECK_MESSAGE(node.outside() == "", node.outside());
  }
  CHECK(node.agent->stop() == 0);
  CHECK_MESSAGE(node.is_as_before(), node.differences());
}

TEST_CASE("a hook's values stay while it is reloaded") {
  Sessions node(with_hooks("hook-batch-resource"));
  expect_hooks(node);
  REQUIRE(node.start());
  REQUIRE_MESSAGE(eventually([&] { return node.unsettled().empty(); }, std::chrono::minutes(1)),
                  node.unsettled() << node.agent->log());
  CHECK(node.agent->ctl({"plugin", "reload", "hook-batch-resource"}).exit_status == 0);
  CHECK(node.agent->ctl({"plugin", "reload", "hook-cpu-normalization"}).exit_status == 0);
  CHECK_MESSAGE(node.unsettled() == "", node.unsettled());
  CHECK_MESSAGE(node.outside() == "", node.outside());
}
