// SPDX-License-Identifier: Apache-2.0
// koord.knobs/1, koord.evict/1 and koord.audit/1 with valid and invalid arguments, in both runners.
#include "core/log/capture.hpp"
#include "test/core/child/both_runners.hpp"

using namespace koord;
using namespace koord::test;

namespace {

koord_intent intent_with(const std::function<void(koord_intent&)>& change) {
  koord_intent intent = {};
  intent.struct_size = sizeof intent;
  intent.level = KOORD_LEVEL_POD;
  intent.knob = str("cpu.max");
  intent.cgroup_dir = str(kPod);
  intent.value = str("20000 100000");
  intent.reason = str("busy");
  intent.ttl_ns = 60'000'000'000;
  if (change) change(intent);
  return intent;
}

koord_status propose(const Side& side, const std::function<void(koord_intent&)>& change = {}) {
  const koord_intent intent = intent_with(change);
  return side.call(&koord_svc_knobs::propose, &intent, 1, sizeof intent);
}

koord_status propose_two(const Side& side, const std::function<void(koord_intent&)>& one,
                         const std::function<void(koord_intent&)>& other) {
  const koord_intent both[] = {intent_with(one), intent_with(other)};
  return side.call(&koord_svc_knobs::propose, both, 2, sizeof both[0]);
}

using ReadKnob = decltype(koord_svc_knobs::current);

Reply knob(const Side& side, ReadKnob koord_svc_knobs::*read, koord_str name, koord_str dir, std::uint64_t cap = 256) {
  return bytes_of([&](auto... buffer) { return side.call(read, name, dir, buffer...); }, cap);
}

koord_status request_eviction(const Side& side, const std::function<void(koord_eviction&)>& change = {}) {
  const std::uint64_t pod = 7;
  koord_eviction eviction = {};
  eviction.struct_size = sizeof eviction;
  eviction.pods = &pod;
  eviction.n_pods = 1;
  eviction.resource = str("memory");
  eviction.reason = str("busy");
  eviction.amount = 1;
  if (change) change(eviction);
  return side.call(&koord_svc_evict::request, &eviction);
}

// clang-format off
const RowsOf<koord_svc_knobs, koord_svc_evict, koord_svc_audit> kRows = {
    {"audit", [](const Side& s) { return s.call(&koord_svc_audit::record, KOORD_NO_SUBJECT, str("seen"), str("why")); }, KOORD_OK},
    {"audit nothing", [](const Side& s) { return s.call(&koord_svc_audit::record, KOORD_NO_SUBJECT, str(""), str("why")); }, KOORD_E_INVALID},
    {"audit no subject", [](const Side& s) { return s.call(&koord_svc_audit::record, 4711, str("seen"), str("why")); }, KOORD_E_GONE},
    {"audit what is not UTF-8", [](const Side& s) { return s.call(&koord_svc_audit::record, KOORD_NO_SUBJECT, str("\xff"), str("why")); }, KOORD_E_INVALID},
    {"audit a huge text", [](const Side& s) { return s.call(&koord_svc_audit::record, KOORD_NO_SUBJECT, str("seen"), str(kHuge)); }, KOORD_E_INVALID},

    {"propose", [](const Side& s) { return propose(s); }, KOORD_OK},
    {"propose no knob", [](const Side& s) { return propose(s, [](auto& i) { i.knob = str("cpu.mox"); }); }, KOORD_E_INVALID},
    {"propose a NULL knob", [](const Side& s) { return propose(s, [](auto& i) { i.knob = {nullptr, 4}; }); }, KOORD_E_INVALID},
    {"propose no value", [](const Side& s) { return propose(s, [](auto& i) { i.value = str(""); }); }, KOORD_E_INVALID},
    {"propose a bad value", [](const Side& s) { return propose(s, [](auto& i) { i.value = str("much"); }); }, KOORD_E_INVALID},
    {"propose without a reason", [](const Side& s) { return propose(s, [](auto& i) { i.reason = str(""); }); }, KOORD_E_INVALID},
    {"propose for another cgroup", [](const Side& s) { return propose(s, [](auto& i) { i.cgroup_dir = str("system.slice"); }); }, KOORD_E_DENIED},
    {"propose above", [](const Side& s) { return propose(s, [](auto& i) { i.cgroup_dir = str("../x"); }); }, KOORD_E_INVALID},
    {"propose for no time", [](const Side& s) { return propose(s, [](auto& i) { i.ttl_ns = 0; }); }, KOORD_E_INVALID},
    {"propose no level", [](const Side& s) { return propose(s, [](auto& i) { i.level = 99; }); }, KOORD_E_INVALID},
    {"propose no role", [](const Side& s) { return propose(s, [](auto& i) { i.role = 99; }); }, KOORD_E_INVALID},
    {"propose with unknown flags", [](const Side& s) { return propose(s, [](auto& i) { i.flags = 1; }); }, KOORD_E_TOO_NEW},
    {"propose a short record", [](const Side& s) { return propose(s, [](auto& i) { i.struct_size = 1; }); }, KOORD_E_INVALID},
    {"propose a bad value for no time", [](const Side& s) { return propose(s, [](auto& i) { i.value = str("much"), i.ttl_ns = 0; }); }, KOORD_E_INVALID},
    {"propose a NULL knob at no level", [](const Side& s) { return propose(s, [](auto& i) { i.knob = {nullptr, 4}, i.level = 99; }); }, KOORD_E_INVALID},
    {"propose a bad value without a reason", [](const Side& s) { return propose(s, [](auto& i) { i.value = str("much"), i.reason = str(""); }); }, KOORD_E_INVALID},
    {"propose above with unknown flags", [](const Side& s) { return propose(s, [](auto& i) { i.cgroup_dir = str("../x"), i.flags = 1; }); }, KOORD_E_TOO_NEW},
    {"propose for another cgroup, then a NULL knob",
     [](const Side& s) {
       return propose_two(s, [](auto& i) { i.cgroup_dir = str("system.slice"); }, [](auto& i) { i.knob = {nullptr, 4}; });
     },
     KOORD_E_DENIED},
    {"propose a good intent, then a NULL knob", [](const Side& s) { return propose_two(s, {}, [](auto& i) { i.knob = {nullptr, 4}; }); }, KOORD_E_INVALID},
    {"propose NULL", [](const Side& s) { return s.call(&koord_svc_knobs::propose, nullptr, 1, sizeof(koord_intent)); }, KOORD_E_INVALID},
    {"propose too many",
     [](const Side& s) { const std::vector<koord_intent> many(10'001, koord_intent{.struct_size = sizeof(koord_intent)}); return s.call(&koord_svc_knobs::propose, many.data(), 10'001, sizeof many[0]); },
     KOORD_E_AGAIN},
    {"knob current", [](const Side& s) { return knob(s, &koord_svc_knobs::current, str("cpu.max"), str(kPod)); }, KOORD_OK},
    {"knob current of nothing", [](const Side& s) { return knob(s, &koord_svc_knobs::current, str("cpu.max"), str("gone")); },
     KOORD_E_GONE},
    {"knob current without room", [](const Side& s) { return knob(s, &koord_svc_knobs::current, str("cpu.max"), str(kPod), 3); }, KOORD_E_TOO_SMALL},
    {"knob base", [](const Side& s) { return knob(s, &koord_svc_knobs::base, str("cpu.max"), str(kPod)); }, KOORD_OK, "12 20000 100000"},
    {"knob base without room", [](const Side& s) { return knob(s, &koord_svc_knobs::base, str("cpu.max"), str(kPod), 3); }, KOORD_E_TOO_SMALL},
    {"knob base of no knob", [](const Side& s) { return knob(s, &koord_svc_knobs::base, str("cpu.mox"), str(kPod)); }, KOORD_E_INVALID},
    {"knob base NULL", [](const Side& s) { return knob(s, &koord_svc_knobs::base, {nullptr, 1}, str(kPod)); }, KOORD_E_INVALID},

    {"evict", [](const Side& s) { return request_eviction(s); }, KOORD_OK},
    {"evict no pod", [](const Side& s) { return request_eviction(s, [](auto& e) { e.n_pods = 0; }); }, KOORD_E_INVALID},
    {"evict for nothing", [](const Side& s) { return request_eviction(s, [](auto& e) { e.amount = 0; }); }, KOORD_E_INVALID},
    {"evict for no resource", [](const Side& s) { return request_eviction(s, [](auto& e) { e.resource = str("luck"); }); }, KOORD_E_INVALID},
    {"evict without a reason", [](const Side& s) { return request_eviction(s, [](auto& e) { e.reason = {nullptr, 3}; }); }, KOORD_E_INVALID},
    {"evict for nothing without a reason", [](const Side& s) { return request_eviction(s, [](auto& e) { e.amount = 0, e.reason = {nullptr, 3}; }); }, KOORD_E_INVALID},
    {"evict for no resource without a reason", [](const Side& s) { return request_eviction(s, [](auto& e) { e.resource = str("luck"), e.reason = {nullptr, 3}; }); },
     KOORD_E_INVALID},
    {"evict no pod for a NULL resource", [](const Side& s) { return request_eviction(s, [](auto& e) { e.n_pods = 0, e.resource = {nullptr, 3}; }); }, KOORD_E_INVALID},
    {"evict pods NULL", [](const Side& s) { return request_eviction(s, [](auto& e) { e.pods = nullptr; }); }, KOORD_E_INVALID},
};
// clang-format on

}  // namespace

TEST_CASE(
    "koord.knobs/1, koord.evict/1 and koord.audit/1 give a plugin in the agent and one in a child the same answer") {
  kRows.check();
}

TEST_CASE("both runners log a refused intent, a plan that is too large and a refused request for evictions") {
  using Call = koord_status (*)(const Side& side);
  struct Row {
    Call call;
    const char* expected;
  };
  const Row calls[] = {
      {[](const Side& s) { return propose(s, [](auto& i) {
                             i.knob = {nullptr, 4};
                           }); },
       "intent for knob an unknown one of cgroup 'kubepods.slice/kubepods-pod1.slice' is refused: knob is NULL"},
      {[](const Side& s) { return propose(s, [](auto& i) { i.value = str("much"); }); },
       "intent for knob 'cpu.max' of cgroup 'kubepods.slice/kubepods-pod1.slice' is refused"},
      {[](const Side& s) {
         const std::vector<koord_intent> many(10'001, koord_intent{.struct_size = sizeof(koord_intent)});
         return s.call(&koord_svc_knobs::propose, many.data(), 10'001, sizeof many[0]);
       },
       "the plan has more than 10000 intents"},
      {[](const Side& s) { return request_eviction(s, [](auto& e) {
                             e.reason = {nullptr, 3};
                           }); },
       "request for evictions is refused: reason is NULL"}};
  BothRunners both;
  for (const Row& row : calls) {
    CAPTURE(row.expected);
    for (const Side& side : {both.near_side, both.far_side}) {
      const log::Capture log;
      CHECK(row.call(side) != KOORD_OK);
      REQUIRE(log.lines().size() == 1);
      CHECK(log.lines()[0].find(row.expected) != std::string::npos);
    }
  }
}
