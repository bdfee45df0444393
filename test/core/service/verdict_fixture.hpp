// SPDX-License-Identifier: Apache-2.0
// Fixture for tests of koord.verdict/1: one of the agent's own plugins, and two pods.
#pragma once

#include <string>
#include <vector>

#include "test/core/service/service_fixture.hpp"
#include "test/core/service/verdict_records.hpp"

namespace koord::test {

struct Verdicts : OnHost<koord_svc_verdict> {
  Verdicts() : OnHost("koord.verdict/1") {
    publish({"cart", "etl"});
    cart = handle(0);
    etl = handle(1);
  }

  void publish(const std::vector<std::string>& names) {
    std::vector<state::Pod> pods;
    for (const std::string& name : names) {
      state::Pod& pod = pods.emplace_back();
      pod.uid = name;
      pod.name = name;
      pod.namespace_ = "shop";
      pod.containers.resize(1);
      pod.containers[0].id = "containerd://" + name;
      pod.containers[0].name = "app";
    }
    host.hub().publish({.pods = pods});
  }
  std::uint64_t handle(std::size_t pod) { return host.hub().current()->pods[pod].containers[0].handle; }
  koord_status post(const koord_verdict& verdict) { return service->post(abi, &verdict, 1, sizeof verdict); }
  std::vector<verdict::RecordPtr> standing() { return host.services().verdicts.standing()->records; }

  std::uint64_t cart = 0, etl = 0;
};

// An acquired list of verdicts, released at the end.
struct Listed {
  explicit Listed(Verdicts& verdicts) : on(verdicts) { REQUIRE(on.service->acquire(on.abi, &list) == KOORD_OK); }
  ~Listed() { on.service->release(on.abi, list); }
  std::vector<koord_verdict> verdicts() const {
    std::uint32_t n = 77, stride = 77;
    const koord_verdict* first = on.service->verdicts(list, &n, &stride);
    CHECK(stride == sizeof(koord_verdict));
    return first ? std::vector(first, first + n) : std::vector<koord_verdict>();
  }

  Verdicts& on;
  const koord_verdict_list* list = nullptr;
};

inline std::string text(koord_str text) { return std::string(plugin::view(text)); }

}  // namespace koord::test
