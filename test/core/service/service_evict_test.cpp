// SPDX-License-Identifier: Apache-2.0
#include "test/core/service/service_fixture.hpp"

using namespace koord;
using namespace koord::test;

namespace {

struct Evictions : OnHost<koord_svc_evict> {
  Evictions() : OnHost("koord.evict/1") {}

  koord_eviction eviction() const {
    koord_eviction eviction = {};
    eviction.struct_size = sizeof eviction;
    eviction.pods = pods;
    eviction.n_pods = 2;
    eviction.resource = str("memory");
    eviction.reason = str("the node has no memory left");
    eviction.amount = 1 << 30;
    return eviction;
  }
  koord_status request(const koord_eviction& eviction) { return service->request(abi, &eviction); }

  std::uint64_t pods[2] = {7, 3};
};

}  // namespace

TEST_CASE_FIXTURE(Evictions, "requests are collected word for word, and taken once") {
  koord_eviction wanted = eviction();
  const koord_label input = label("feature", "MemoryEvict");
  wanted.inputs = &input;
  wanted.n_inputs = 1;
  wanted.input_stride = sizeof input;
  REQUIRE(request(wanted) == KOORD_OK);
  const std::vector<evict::Request> taken = host.context().take_evictions();
  REQUIRE(taken.size() == 1);
  CHECK(taken[0] ==
        evict::Request{{7, 3}, "memory", "the node has no memory left", 1 << 30, {{"feature", "MemoryEvict"}}});
  CHECK(host.context().take_evictions().empty());
}

TEST_CASE_FIXTURE(Evictions, "a request names its plugin, pods, amount and reason") {
  for (auto spoil : {+[](koord_eviction& e) { e.n_pods = 0; }, +[](koord_eviction& e) { e.pods = nullptr; },
                     +[](koord_eviction& e) { e.resource = {}; }, +[](koord_eviction& e) { e.reason = {}; },
                     +[](koord_eviction& e) { e.reason = str("no \xff text"); },
                     +[](koord_eviction& e) { e.amount = 0; }, +[](koord_eviction& e) { e.amount = -1; },
                     +[](koord_eviction& e) { e.n_inputs = 1; }, +[](koord_eviction& e) { e.struct_size = 0; }}) {
    koord_eviction bad = eviction();
    spoil(bad);
    CHECK(request(bad) == KOORD_E_INVALID);
  }
  CHECK(host.context().take_evictions().empty());
}

TEST_CASE_FIXTURE(Evictions, "a resource is what a pod uses or what it requests") {
  for (std::string_view resource :
       {"cpu", "memory", "cpu.request", "kubernetes.io/batch-cpu.request", "kubernetes.io/batch-cpu"}) {
    koord_eviction good = eviction();
    good.resource = str(resource);
    CHECK(request(good) == KOORD_OK);
  }
  koord_eviction bad = eviction();
  bad.resource = str("disk");
  CHECK(request(bad) == KOORD_E_INVALID);
  CHECK(host.last_error() == "'disk' is nothing that a pod releases: expected 'cpu', 'memory' or '<resource>.request'");
}

TEST_CASE_FIXTURE(Evictions, "a request of a newer plugin that uses what we do not know is too new") {
  struct Newer {
    koord_eviction eviction;
    std::uint64_t more;
  } newer{eviction(), 0};
  newer.eviction.struct_size = sizeof newer;
  CHECK(service->request(abi, &newer.eviction) == KOORD_OK);
  newer.more = 1;
  CHECK(service->request(abi, &newer.eviction) == KOORD_E_TOO_NEW);
}

TEST_CASE_FIXTURE(Evictions, "requests without end are cut off") {
  for (std::size_t i = 0; i < service::PluginContext::kMaxEvictions; ++i) REQUIRE(request(eviction()) == KOORD_OK);
  CHECK(request(eviction()) == KOORD_E_AGAIN);
}
