// SPDX-License-Identifier: Apache-2.0
#include "core/agentd/verdicts.hpp"

#include <doctest/doctest.h>

#include "test/core/agentd/node_services.hpp"
#include "test/core/verdict/records.hpp"

using namespace koord;
using namespace koord::agentd;
using namespace koord::test;
using namespace std::chrono_literals;

namespace {

struct Verdicts {
  // Publishes a pod with one container; returns the container's handle.
  std::uint64_t publish_pod() {
    state::Pod pod;
    pod.uid = "1";
    pod.name = "cart";
    pod.containers.resize(1);
    pod.containers[0].id = "containerd://1";
    node.hub.publish({.pods = std::vector{pod}});
    return node.hub.current()->pods[0].containers[0].handle;
  }
  void post(std::uint64_t victim) {
    REQUIRE(node.verdicts.post(node.clock.now(), {"advisor", verdict::Origin::own, 1}, {verdict_about(victim)}));
  }

  NodeServices node;
  VerdictModule module{node.services};
};

}  // namespace

TEST_CASE_FIXTURE(Verdicts, "a verdict ends with its victim") {
  post(publish_pod());
  CHECK(node.verdicts.standing()->records.size() == 1);
  node.hub.publish({.pods = std::vector<state::Pod>()});
  CHECK(node.verdicts.standing()->records.empty());
  REQUIRE(node.verdicts.history().size() == 1);
  CHECK(node.verdicts.history()[0]->why_ended == "the pod or container has ended");
}

TEST_CASE_FIXTURE(Verdicts, "a verdict that is not posted again ends while the module runs") {
  post(publish_pod());
  node.clock.advance(61s);
  module.start();
  node.verdicts.subscribe([this](std::uint64_t) { node.loop.stop(); });
  node.loop.run();
  CHECK(node.verdicts.standing()->records.empty());
}
