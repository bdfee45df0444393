// SPDX-License-Identifier: Apache-2.0
#include "test/core/service/service_fixture.hpp"

using namespace koord;
using namespace koord::test;

namespace {

struct State : OnHost<koord_svc_state> {
  State() : OnHost("koord.state/1") {}
  explicit State(std::initializer_list<std::pair<std::string_view, std::string_view>> tree)
      : OnHost("koord.state/1", tree) {}

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

TEST_CASE_FIXTURE(State, "a new subscription replaces the previous one") {
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

namespace {

// A pod with a container on a cgroup v2 node, and a pod without a cgroup.
struct Processes : State {
  Processes()
      : State({{"cgroup/cgroup.controllers", "cpu memory\n"},
               {"cgroup/cgroup.procs", "1\n"},
               {"cgroup/kubepods/pod1/cgroup.procs", "10\n"},
               {"cgroup/kubepods/pod1/app/cgroup.procs", "12\n11\n"}}) {
    state::Container app;
    app.id = "containerd://app";
    app.cgroup_dir = "kubepods/pod1/app";
    state::Pod pod, waiting;
    pod.uid = "u1";
    pod.cgroup_dir = "kubepods/pod1";
    pod.containers = {app};
    waiting.uid = "u2";
    state::Update update;
    update.pods = std::vector{pod, waiting};
    host.hub().publish(std::move(update));
  }
  koord_status ask(std::uint64_t subject, std::uint32_t cap) {
    pids.assign(cap, -1);
    return service->processes(abi, subject, pids.data(), cap, &need);
  }
  const state::Pod& pod(std::size_t i) { return host.hub().current()->pods[i]; }

  std::vector<std::int32_t> pids;
  std::uint32_t need = 0;
};

}  // namespace

TEST_CASE_FIXTURE(Processes, "the processes of a pod are those of its cgroup and of its containers'") {
  CHECK(ask(pod(0).handle, 3) == KOORD_OK);
  CHECK(pids == std::vector<std::int32_t>{10, 11, 12});
  CHECK(ask(pod(0).containers[0].handle, 10) == KOORD_OK);
  CHECK(need == 2);
  CHECK(pids[0] == 11);
}

TEST_CASE_FIXTURE(Processes, "a buffer that is too small for the processes stays as it was") {
  CHECK(ask(pod(0).handle, 2) == KOORD_E_TOO_SMALL);
  CHECK(need == 3);
  CHECK(pids == std::vector<std::int32_t>{-1, -1});
  CHECK(service->processes(abi, pod(0).handle, nullptr, 0, &need) == KOORD_E_TOO_SMALL);
}

TEST_CASE_FIXTURE(Processes, "a pod without a cgroup has unknown processes, never those of the root") {
  CHECK(ask(pod(1).handle, 10) == KOORD_E_AGAIN);
  CHECK(host.last_error() == "the cgroup of this pod or container is not known yet");
}

TEST_CASE_FIXTURE(Processes,
                  "a request for processes of a subject that is not a pod or container is refused with the reason") {
  CHECK(ask(KOORD_NO_SUBJECT, 10) == KOORD_E_INVALID);
  CHECK(ask(123456, 10) == KOORD_E_GONE);
  CHECK(service->processes(abi, pod(0).handle, nullptr, 10, &need) == KOORD_E_INVALID);
  CHECK(service->processes(abi, pod(0).handle, pids.data(), 0, nullptr) == KOORD_E_INVALID);
}
