// SPDX-License-Identifier: Apache-2.0
#include "test/core/host/service_fixture.hpp"

using namespace koord;
using namespace koord::test;

namespace {

struct State : OnHost<koord_svc_state> {
  State() : OnHost("koord.state/1") {}

  void publish_pod(std::string uid) {
    state::Pod pod;
    pod.uid = std::move(uid);
    state::Update update;
    update.pods = std::vector{pod};
    host.hub().publish(std::move(update));
  }
  const koord_snapshot* acquire() {
    const koord_snapshot* snapshot = nullptr;
    REQUIRE(service->acquire(abi, &snapshot) == KOORD_OK);
    return snapshot;
  }
  std::string first_uid(const koord_snapshot* snapshot) {
    std::uint32_t n = 0, stride = 0;
    const koord_pod* pods = service->pods(snapshot, &n, &stride);
    return n == 0 ? "" : std::string(plugin::view(pods[0].uid));
  }
};

}  // namespace

TEST_CASE_FIXTURE(State, "nothing known yet is not the same as no pods") {
  const koord_snapshot* snapshot = nullptr;
  CHECK(service->acquire(abi, &snapshot) == KOORD_E_AGAIN);
  CHECK(snapshot == nullptr);
}

TEST_CASE_FIXTURE(State, "an acquired snapshot stays as it is while the state goes on") {
  publish_pod("u1");
  const koord_snapshot* held = acquire();
  publish_pod("u2");
  CHECK(first_uid(held) == "u1");
  const koord_snapshot* newer = acquire();
  CHECK(first_uid(newer) == "u2");
  service->release(abi, held);
  service->release(abi, newer);
}

TEST_CASE_FIXTURE(State, "one version of the state is built once for all plugins") {
  publish_pod("u1");
  auto other = host.make_context("com.example.other", {"koord.state/1"});
  const koord_snapshot* theirs = nullptr;
  REQUIRE(service->acquire(other->host(), &theirs) == KOORD_OK);
  CHECK(acquire() == theirs);
}

TEST_CASE_FIXTURE(State, "parts that are not known yet have version 0 and no record") {
  publish_pod("u1");
  const koord_snapshot* snapshot = acquire();
  CHECK(service->version(snapshot, KOORD_ON_PODS) == 1);
  CHECK(service->version(snapshot, KOORD_ON_NODE) == 0);
  CHECK(service->version(snapshot, 1u << 30) == 0);
  CHECK(service->node(snapshot) == nullptr);
  CHECK(service->topology(snapshot) == nullptr);
  CHECK(service->node_slo(snapshot).n == 0);
}

TEST_CASE_FIXTURE(State, "releasing twice does no harm") {
  publish_pod("u1");
  const koord_snapshot* snapshot = acquire();
  service->release(abi, snapshot);
  service->release(abi, snapshot);
  service->release(abi, nullptr);
  CHECK(host.context().snapshots().held() == 0);
}

TEST_CASE_FIXTURE(State, "a snapshot acquired twice is held until it is released twice") {
  publish_pod("u1");
  const koord_snapshot* snapshot = acquire();
  CHECK(acquire() == snapshot);
  service->release(abi, snapshot);
  publish_pod("u2");
  CHECK(first_uid(snapshot) == "u1");
}

TEST_CASE_FIXTURE(State, "what a plugin subscribes to replaces what it asked for before") {
  CHECK(service->subscribe(abi, KOORD_ON_PODS | KOORD_ON_NODE_SLO) == KOORD_OK);
  CHECK(host.context().subscribed_parts() == (KOORD_ON_PODS | KOORD_ON_NODE_SLO));
  CHECK(service->subscribe(abi, KOORD_ON_NODE) == KOORD_OK);
  CHECK(host.context().subscribed_parts() == KOORD_ON_NODE);
  CHECK(service->subscribe(abi, 1u << 30) == KOORD_E_UNSUPPORTED);
}

TEST_CASE_FIXTURE(State, "a snapshot that is NULL has nothing in it") {
  std::uint32_t n = 1, stride = 0;
  CHECK(service->acquire(abi, nullptr) == KOORD_E_INVALID);
  CHECK(service->version(nullptr, KOORD_ON_PODS) == 0);
  CHECK(service->node(nullptr) == nullptr);
  CHECK(service->pods(nullptr, &n, &stride) == nullptr);
  CHECK(n == 0);
  CHECK(service->containers(nullptr, nullptr, nullptr) == nullptr);
  CHECK(service->topology(nullptr) == nullptr);
  CHECK(service->node_slo(nullptr).n == 0);
}
