// SPDX-License-Identifier: Apache-2.0
#include "plugins/hook-cpu-normalization/cpu_normalization.hpp"

#include <doctest/doctest.h>

#include "test/support/fake_host.hpp"

using namespace koord::normalization;
using koord::state::Pod;
using koord::test::FakeHost;
using koord::test::FakeInstance;
using koord::test::FakeNode;
using Scales = decltype(koord::host::HookSettings::scales);

TEST_CASE("a ratio is a number from 0.1 to 10; a missing ratio and -1 switch it off") {
  CHECK(*parse_ratio("1.25") == 1.25);
  CHECK(*parse_ratio("") == std::nullopt);
  CHECK(*parse_ratio("-1") == std::nullopt);
  CHECK(*parse_ratio("-1.00") == std::nullopt);
  for (const char* wrong : {"0", "-2", "11", "fast", "1.2x", "nan", "inf", "1e999"}) {
    CAPTURE(wrong);
    CHECK(parse_ratio(wrong).error().message() == "node.koordinator.sh/cpu-normalization-ratio is '" +
                                                      std::string(wrong) +
                                                      "', expected a number from 0.1 to 10, or -1 for none");
  }
}

TEST_CASE("faster CPUs reduce a limit, slower or equal ones change nothing") {
  CHECK(factor_of(1.25) == 0.8);
  CHECK(factor_of(2) == 0.5);
  for (const double ratio : {0.5, 1.0, 1.009}) CHECK_FALSE(factor_of(ratio));
  CHECK_FALSE(factor_of(std::nullopt));
}

TEST_CASE("limits of LS pods and of pods without a label are multiplied, others are not") {
  const FakeNode node;
  FakeHost host(node);
  FakeInstance hook(host, koord_entry_v1());
  REQUIRE(hook.init() == KOORD_OK);
  const auto publish = [&](const std::string& ratio) {
    koord::state::Update update;
    update.node.emplace();
    update.node->annotations = {{std::string(kAnnotation), ratio}};
    host.hub().publish(std::move(update));
  };
  Pod pod;
  CHECK(hook.handle(pod).scales.empty());  // the node is unknown
  publish("1.25");
  CHECK(hook.handle(pod).scales == Scales{{"linux.cpu.quota", 0.8}});
  for (const char* label : {"LSE", "LSR", "BE", "SYSTEM"}) {
    CAPTURE(label);
    pod.labels = {{"koordinator.sh/qosClass", label}};
    CHECK(hook.handle(pod).scales.empty());
  }
  pod.labels.clear();
  pod.koord_qos = koord::state::KoordQos::be;  // like a pod without requests
  CHECK(hook.handle(pod).scales.empty());
  pod.koord_qos = koord::state::KoordQos::ls;
  pod.labels = {{"koordinator.sh/qosClass", "LS"}};
  CHECK(hook.handle(pod).scales.size() == 1);
  pod.labels.clear();
  pod.annotations = {{"scheduling.koordinator.sh/resource-status", R"({"cpuset":"0-3"})"}};
  CHECK(hook.handle(pod).scales.empty());
  pod.annotations.clear();
  publish("quick");
  CHECK(hook.handle(pod).scales.empty());
  publish("1.5");
  CHECK(hook.handle(pod).scales.size() == 1);
}
