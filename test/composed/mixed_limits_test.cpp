// SPDX-License-Identifier: Apache-2.0
// Burst, normalization, batch limits and a cap on the quota of one container. The project's own plugins set them for
// containers of different classes, so a plugin of the test sets the parts of the other classes for one container.
#include <doctest/doctest.h>

#include <string>

#include "core/base/file.hpp"
#include "test/composed/strategy_rows.hpp"
#include "test/support/eventually.hpp"

using namespace koord::test;

namespace {

Sessions::Given of_all(std::vector<std::string> plugins, const std::string& slo) {
  return {.plugins = std::move(plugins),
          .gates = "BatchResource=true,CPUNormalization=true,MixedLimits=true",
          .node_slo = spec(slo),
          .node_annotations = "{node.koordinator.sh/cpu-normalization-ratio: \"1.25\"}"};
}

std::string quota(const Sessions& node, const std::string& microseconds) {
  return node.pods.is_v2() ? microseconds + " 100000" : microseconds;
}

// The file may have its value before a hook has answered, because a value of a killed agent stays, and a cap may hide a
// missing part. So this checks the parts that `koordctl why` shows.
void check_why(Sessions& node, const std::string& pod, const std::string& equation) {
  std::string why;
  const auto shows_equation = [&] {
    why = node.agent->ctl({"why", pod}).output;
    return why.find(equation) != std::string::npos;
  };
  CHECK_MESSAGE(eventually(shows_equation, std::chrono::minutes(1)), why);
}

// Kills the agent while it raises the value, and then interrupts it in every way.
void check_through_interruptions(Sessions& node, void (*check_shown)(Sessions&)) {
  REQUIRE(node.start());
  REQUIRE(eventually([&] { return node.rounds() >= 2; }, std::chrono::minutes(1)));
  node.interrupt(Interruption::sigkill);
  REQUIRE_MESSAGE(node.settles(), node.unsettled() << node.agent->log());
  check_shown(node);
  for (const Interruption interruption : kInterruptions) {
    INFO("after " << name_of(interruption));
    node.interrupt(interruption);
    CHECK_MESSAGE(node.settles(), node.unsettled());
    CHECK_MESSAGE(node.outside() == "", node.outside());
    check_shown(node);
  }
  CHECK(node.agent->stop() == 0);
  CHECK_MESSAGE(node.is_as_before(), node.differences());
}

}  // namespace

TEST_CASE(
    "batch limit x normalization x burst, capped, on one container: why shows each part, the file has the result") {
  Sessions::Given given =
      of_all({"qos-cpu-burst", "hook-cpu-normalization", "hook-batch-resource", "mixed-limits"}, kBurst);
  given.service_more_limits = ", kubernetes.io/batch-cpu: 120";
  given.service_annotations = "{koordetector.sh/test-cap: \"18000 100000\"}";
  Sessions node(given);
  // 120 milli-cores are 12000 µs of 100 ms. 12000 × 0.8 × 2 = 19200; the container's cap is 18000. The quota is 9600
  // before the first burst, and 8000, from the limit of the spec, before the hook answers.
  node.expect(node.quota_file(node.pods.service), {quota(node, "18000"), quota(node, "8000")});
  node.expect(node.quota_file(node.pods.service_pod), {quota(node, "19200"), quota(node, "8000")});
  check_through_interruptions(node, [](Sessions& at) {
    const std::string parts = "= base 12000 (mixed-limits) × 0.8 (hook-cpu-normalization) × 2 (qos-cpu-burst), ";
    check_why(at, "default/service", "cpu.max 18000 100000 " + parts + "cap 18000 (mixed-limits)");
    check_why(at, "default/service", "cpu.max 19200 100000 " + parts + "no cap");
  });
}

TEST_CASE(
    "a batch container with two factors, below the cap of its class: why shows each part, the file has the result") {
  Sessions::Given given = of_all({"qos-cpu-suppress", "hook-batch-resource", "mixed-limits"}, kQuota);
  given.batch_resources = "{requests: {kubernetes.io/batch-cpu: 500}, limits: {kubernetes.io/batch-cpu: 800}}";
  Sessions node(given);
  if (node.pods.is_v2()) {
    MESSAGE("left out here: on cgroup v2 the cap of a class changes no cgroup inside");
    return;
  }
  // 80000 × 0.8 × 2 = 128000; the cap of the class is 2000, the minimum.
  for (const RealCgroup* cgroup : {&node.pods.besteffort, &node.pods.batch_pod, &node.pods.batch})
    node.expect(node.quota_file(*cgroup), {"2000"});
  check_through_interruptions(node, [](Sessions& at) {
    check_why(at, "default/batch",
              "cpu.max 2000 100000 = base 80000 (hook-batch-resource) × 2 (mixed-limits) × 0.8 (mixed-limits), "
              "cap 2000 (qos-cpu-suppress on kubepods/besteffort)");
  });
}
