// SPDX-License-Identifier: Apache-2.0
#include "plugins/hook-group-identity/group_identity.hpp"

#include <doctest/doctest.h>

#include "plugins/hook-group-identity/kernel_knobs.hpp"
#include "test/support/fake_host.hpp"

using namespace koord::group_identity;
using koord::state::Pod;
using koord::test::FakeHost;
using koord::test::FakeInstance;
using koord::test::FakeNode;
using Fields = decltype(koord::host::HookSettings::fields);

namespace {

constexpr const char* kSlo = R"({"resourceQOSStrategy":{"policies":{"cpuPolicy":"groupIdentity"},
  "lsrClass":{"cpuQOS":{"enable":true,"groupIdentity":2}},"lsClass":{"cpuQOS":{"enable":true,"groupIdentity":1}},
  "beClass":{"cpuQOS":{"enable":true,"groupIdentity":-1}},"systemClass":{"cpuQOS":{"enable":true,"groupIdentity":0}}}})";

const Identities kAll{2, 1, -1, 0};
const Kernel kVendor{.has_identities = true, .has_idle = true}, kMainline{.has_identities = false, .has_idle = true},
    kOld{.has_identities = false, .has_idle = false};

PodFacts pod(std::string_view label, KubeQos qos = KubeQos::burstable) {
  PodFacts facts;
  facts.label = label;
  facts.kube_qos = qos;
  return facts;
}

}  // namespace

TEST_CASE("a class has the identity of the NodeSLO while it is on and no other mechanism is chosen") {
  CHECK(*parse_identities(kSlo) == kAll);
  CHECK(*parse_identities("") == Identities{});
  CHECK(*parse_identities("{}") == Identities{});
  const auto ls = [](const std::string& policies, const std::string& cpu) {
    return parse_identities(R"({"resourceQOSStrategy":{)" + policies + R"("lsClass":{"cpuQOS":)" + cpu + "}}}")->ls;
  };
  const char* on = R"({"enable":true,"groupIdentity":2})";
  CHECK(ls("", on) == 2);
  CHECK(ls(R"("policies":{"cpuPolicy":""},)", on) == 2);
  CHECK(ls(R"("policies":{"netQOSPolicy":"tc"},)", on) == 2);
  CHECK(ls(R"("policies":{"cpuPolicy":"coreSched"},)", on) == std::nullopt);
  for (const char* off : {"{}", R"({"groupIdentity":2})", R"({"enable":false,"groupIdentity":2})", R"({"enable":true})",
                          R"({"enable":true,"groupIdentity":3})", R"({"enable":true,"groupIdentity":"2"})", "[]"}) {
    CAPTURE(off);
    CHECK(ls("", off) == std::nullopt);
  }
  CHECK_FALSE(parse_identities("[]"));
}

TEST_CASE("a pod's annotation sets its own identity, and an annotation that is not enabled sets none") {
  CHECK(*parse_identity("") == std::nullopt);
  CHECK(*parse_identity(R"({"enable":true,"groupIdentity":2})") == 2);
  CHECK(*parse_identity(R"({"enable":false,"groupIdentity":2})") == 0);
  CHECK(*parse_identity(R"({"groupIdentity":2})") == 0);
  CHECK(*parse_identity("{}") == 0);
  for (const char* wrong :
       {"2", "{", R"({"enable":"yes"})", R"({"enable":true,"groupIdentity":3})",
        R"({"enable":true,"groupIdentity":-9223372036854775808})", R"({"enable":true,"groupIdentity":"2"})"}) {
    CAPTURE(wrong);
    REQUIRE_FALSE(parse_identity(wrong));
    CHECK(parse_identity(wrong).error().message().starts_with("koordinator.sh/cpuQOS: "));
  }
}

// Same mapping as in koordlet.
TEST_CASE("a pod has the identity of its class; without a class the Kubernetes class decides") {
  struct Row {
    PodFacts pod;
    std::optional<std::int64_t> identity;
  };
  PodFacts own = pod("LS"), of_lsr = pod("LSR");
  own.own = of_lsr.own = 0;
  for (const Row& row :
       {Row{pod("LSE"), 2}, Row{pod("LSR"), 2}, Row{pod("LS"), 1}, Row{pod("BE"), -1}, Row{pod("SYSTEM"), 0},
        Row{pod("", KubeQos::burstable), 1}, Row{pod("", KubeQos::best_effort), -1},
        Row{pod("", KubeQos::guaranteed), 2}, Row{pod("LS", KubeQos::best_effort), 1}, Row{own, 0}, Row{of_lsr, 2}}) {
    CAPTURE(std::string(row.pod.label));
    CHECK(identity_of(row.pod, kAll) == row.identity);
    CHECK(identity_of(row.pod, {}) == std::nullopt);
  }
  CHECK(identity_of(pod("", KubeQos::guaranteed), {.lsr = {}, .ls = 1, .be = {}, .system = {}}) == 1);
  CHECK(identity_of(pod("BE"), {.lsr = {}, .ls = 1, .be = {}, .system = {}}) == std::nullopt);
}

TEST_CASE("with kernel support the identity is set, otherwise best-effort work gets cpu.idle or the fewest shares") {
  CHECK(adjust(pod("LS"), kAll, kVendor) == Adjustment{.bvt_warp = 1, .idle = {}, .shares = {}});
  CHECK(adjust(pod("BE", KubeQos::best_effort), kAll, kVendor) == Adjustment{.bvt_warp = -1, .idle = {}, .shares = {}});
  CHECK(adjust(pod("LS"), {}, kVendor) == Adjustment{});
  CHECK(adjust(pod("BE"), kAll, kMainline) == Adjustment{.bvt_warp = {}, .idle = 1, .shares = {}});
  CHECK(adjust(pod("BE"), kAll, kOld) == Adjustment{.bvt_warp = {}, .idle = {}, .shares = 2});
  for (const char* label : {"LSE", "LSR", "LS", "SYSTEM", ""})
    CHECK(adjust(pod(label), kAll, kMainline) == Adjustment{});
}

TEST_CASE("on a mainline kernel files of other plugins are not proposed") {
  CHECK(adjust(pod("BE", KubeQos::best_effort), kAll, kMainline) == Adjustment{});  // qos-cpu-suppress: cpu.idle
  PodFacts batch = pod("BE");
  batch.has_batch_resources = true;  // hook-batch-resource: cpu.shares, which the kernel refuses while cpu.idle is set
  CHECK(adjust(batch, kAll, kMainline) == Adjustment{});
  CHECK(adjust(batch, kAll, kOld) == Adjustment{});
}

TEST_CASE("the kernel's knobs are those that a top-level cgroup has, or the switch of identities") {
  const auto knobs = [](std::initializer_list<std::pair<std::string_view, std::string_view>> tree) {
    const FakeNode node(tree);
    const Kernel kernel = find_kernel_knobs(node.roots());
    return std::pair(kernel.has_identities, kernel.has_idle);
  };
  CHECK(knobs({{"cgroup/cgroup.controllers", "cpu\n"}, {"cgroup/kubepods.slice/cpu.idle", "0\n"}}) ==
        std::pair(false, true));
  CHECK(knobs({{"cgroup/cpu/tasks", ""}, {"cgroup/cpu/kubepods/cpu.bvt_warp_ns", "0\n"}}) == std::pair(true, false));
  CHECK(knobs({{"proc/sys/kernel/sched_group_identity_enabled", "0\n"}}) == std::pair(true, false));
  CHECK(knobs({{"proc/stat", ""}}) == std::pair(false, false));
}

TEST_CASE("the hook answers only for pods, and reports the kernel's mechanism") {
  const FakeNode node({{"cgroup/cgroup.controllers", "cpu\n"}, {"cgroup/kubepods.slice/cpu.idle", "0\n"}});
  FakeHost host(node);
  FakeInstance hook(host, koord_entry_v1());
  REQUIRE(hook.init() == KOORD_OK);
  CHECK(host.capabilities().find("group_identity")->state == koord::service::CapabilityState::absent);
  CHECK(host.capabilities().find("cpu_idle")->state == koord::service::CapabilityState::supported);
  Pod sidecar;
  sidecar.kube_qos = koord::cgroup::KubeQos::burstable;
  sidecar.labels = {{"koordinator.sh/qosClass", "BE"}};
  CHECK(hook.handle(sidecar).fields.empty());  // the NodeSLO is unknown
  host.hub().publish({.pods = std::vector{sidecar}, .node_slo = kSlo});
  CHECK(hook.handle(sidecar).fields == Fields{{"linux.cpu.idle", "1"}});
  sidecar.labels = {{"koordinator.sh/qosClass", "LS"}};
  sidecar.annotations = {{std::string(kAnnotation), "none"}};
  CHECK(hook.handle(sidecar).fields.empty());
}
