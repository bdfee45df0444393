// SPDX-License-Identifier: Apache-2.0
// The values that a third-party hook set for a pod, while the plugin is reloaded, crashes and is parked, and when its
// gate is off.
#include <doctest/doctest.h>

#include <csignal>
#include <filesystem>
#include <string>

#include "core/base/file.hpp"
#include "test/composed/strategy_rows.hpp"
#include "test/support/eventually.hpp"

using namespace koord::test;
using koord::cgroup::Controller;

namespace {

constexpr auto kLong = std::chrono::minutes(3);

// CPU burst has no effect here. The test uses it to count rounds.
Sessions::Given with_annotation() {
  return {.plugins = {"qos-cpu-burst"}, .node_slo = kOff, .service_annotations = "{koordetector.sh/test-hook: rival}"};
}

struct HookFixture {
  Sessions node{with_annotation()};

  // The limit in the pod's cgroup is the limit of the spec, as a kubelet sets it.
  HookFixture() {
    std::filesystem::copy(built("test/e2e/plugins/careless_hook.so"), node.agent->plugin_folder());
    for (const RealCgroup* cgroup : {&node.pods.service_pod, &node.pods.service})
      REQUIRE(koord::write_value(limit_file(*cgroup), "134217728"));
    node.expect(limit_file(node.pods.service), {"33554432"});
    node.configure("featureGates: {Careless: true}\n");
    REQUIRE(node.start());
    REQUIRE_MESSAGE(node.settles(), node.unsettled() << node.agent->log());
  }

  std::string limit_file(const RealCgroup& cgroup) const {
    return node.file(cgroup, Controller::memory, node.pods.is_v2() ? "memory.max" : "memory.limit_in_bytes");
  }

  // Sets the annotation that commands the test's hook.
  void order(const std::string& now) const {
    std::string pods = koord::read_file(node.folder / "pods.yaml").value();
    const std::string key = "koordetector.sh/test-hook: ";
    const std::size_t at = pods.find(key) + key.size();
    pods.replace(at, pods.find('}', at) - at, now);
    REQUIRE(koord::write_file_atomically(node.folder / "pods.yaml", pods));
  }

  // Returns whether the limit of the spec is restored.
  bool is_limit_of_spec() const {
    return eventually([&] { return koord::read_file(limit_file(node.pods.service)).value_or("") == "134217728\n"; },
                      kLong);
  }

  bool is_logged(const std::string& text) const {
    return eventually([&] { return node.agent->log().find(text) != std::string::npos; }, kLong);
  }

  // Returns the plugin's line of `koordctl plugins`.
  std::string plugin() const {
    const std::string all = node.agent->ctl({"plugins"}).output;
    const std::size_t at = all.find("careless-hook");
    return at == std::string::npos ? all : all.substr(at, all.find('\n', at) - at);
  }

  void check_kept() {
    CHECK_MESSAGE(node.settles(), node.unsettled());
    CHECK_MESSAGE(node.outside() == "", node.outside());
  }

  void check_gate_off() {
    node.configure("featureGates: {Careless: false}\n");
    node.agent->process().signal(SIGHUP);
    CHECK(is_limit_of_spec());
    CHECK(node.agent->stop() == 0);
    CHECK_MESSAGE(node.is_as_before(), node.differences());
  }
};

}  // namespace

TEST_CASE_FIXTURE(
    HookFixture,
    "a pod keeps a hook's values while the plugin is reloaded, crashes and is parked, until its gate is off") {
  CHECK(node.agent->ctl({"plugin", "reload", "careless-hook"}).exit_status == 0);
  check_kept();
  order("crash");
  CHECK(is_logged("process ended by signal 11"));
  check_kept();
  CHECK_MESSAGE(eventually([&] { return plugin().find("parked") != std::string::npos; }, kLong), plugin());
  check_kept();
  check_gate_off();
}

TEST_CASE_FIXTURE(HookFixture,
                  "a pod keeps a hook's values while the hook sleeps, and an invalid answer sets no value") {
  order("sleep");
  CHECK(is_logged("careless-hook gave no answer for"));
  check_kept();
  order("garbage");  // the answer has no limit, so the limit of the spec is expected
  CHECK(is_limit_of_spec());
  CHECK_MESSAGE(node.outside() == "", node.outside());
  order("rival");
  check_kept();
  check_gate_off();
}
