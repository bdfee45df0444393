// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "plugins/hook-resctrl/resctrl_group.hpp"
#include "test/support/fake_host.hpp"

using namespace koord::hook_resctrl;
using koord::state::Pod;
using koord::test::FakeHost;
using koord::test::FakeInstance;
using koord::test::FakeNode;
using Fields = decltype(koord::host::HookSettings::fields);

TEST_CASE("a pod that requests a part gets its group if the group exists") {
  const auto is_there = [](const std::string& group) { return group == "koord-pod-u1"; };
  CHECK(adjust({"u1", true}, is_there) == "koord-pod-u1");
  CHECK_FALSE(adjust({"u1", false}, is_there));
  CHECK_FALSE(adjust({"u2", true}, is_there));
  const auto all = [](const std::string&) { return true; };
  for (const std::string& uid :
       {std::string(), std::string("../BE"), std::string("a\nb"), std::string("a\0b", 3), std::string(300, 'a')})
    CHECK_FALSE(adjust({uid, true}, all));
}

TEST_CASE("a new container starts in its pod's group, and an existing one is left to qos-resctrl") {
  const FakeNode node({{"resctrl/schemata", "L3:0=ff\n"}, {"resctrl/koord-pod-u1/schemata", "L3:0=f\n"}});
  FakeHost host(node);
  FakeInstance hook(host, koord_entry_v1());
  REQUIRE(hook.init() == KOORD_OK);
  CHECK(host.capabilities().find("resctrl_closid")->state == koord::service::CapabilityState::supported);
  Pod pod;
  pod.uid = "u1";
  pod.containers.emplace_back();
  pod.annotations = {{"node.koordinator.sh/resctrl", R"({"llc":{"schemata":{"range":[0,30]}}})"}};
  const auto of_runtime = [&] { return hook.handle(pod, &pod.containers[0], {}, "{}").fields; };
  CHECK(of_runtime() == Fields{{"linux.rdt.closid", "koord-pod-u1"}});
  CHECK(hook.handle(pod, &pod.containers[0]).fields.empty());
  pod.annotations["node.koordinator.sh/resctrl"] = R"({"llc":{"schemata":{"range":[30,0]}}})";
  CHECK(of_runtime().empty());
  pod.annotations.clear();
  CHECK(of_runtime().empty());
}

TEST_CASE("on a node without resctrl that is reported") {
  const FakeNode node;
  FakeHost host(node);
  FakeInstance hook(host, koord_entry_v1());
  REQUIRE(hook.init() == KOORD_OK);
  CHECK(host.capabilities().find("resctrl_closid")->state == koord::service::CapabilityState::absent);
  CHECK_FALSE(host.capabilities().find("resctrl_closid")->detail.empty());
}
