// SPDX-License-Identifier: Apache-2.0
// koord.state/1 with valid and invalid arguments, in both runners.
#include "core/log/capture.hpp"
#include "test/core/child/both_runners.hpp"

using namespace koord;
using namespace koord::test;

namespace {

// An acquired snapshot, released at the end.
class Held {
 public:
  explicit Held(const Side& side) : side_(side) {
    REQUIRE(side.call(&koord_svc_state::acquire, &snapshot_) == KOORD_OK);
  }
  ~Held() { side_.call(&koord_svc_state::release, snapshot_); }

  operator const koord_snapshot*() const { return snapshot_; }

 private:
  const Side& side_;
  const koord_snapshot* snapshot_ = nullptr;
};

std::string text(koord_str text) { return {text.p, static_cast<std::size_t>(text.n)}; }

Reply version(const Side& side, const koord_snapshot* snapshot, std::uint32_t part) {
  const std::uint64_t version = side.get(&koord_svc_state::version, snapshot, part);
  return {version ? KOORD_OK : kNothing, version};
}

Reply node(const Side& side, const koord_snapshot* snapshot) {
  const koord_node* node = side.get(&koord_svc_state::node, snapshot);
  if (!node) return kNothing;
  return {KOORD_OK, text(node->name) + " " + text(node->labels[0].key) + "=" + text(node->labels[0].value)};
}

// The counts are 77 before the call.
template <class Record>
Reply list(const Side& side,
           const Record* (*koord_svc_state::*list)(const koord_snapshot*, std::uint32_t*, std::uint32_t*),
           const koord_snapshot* snapshot) {
  std::uint32_t n = 77, stride = 77;
  const Record* records = side.get(list, snapshot, &n, &stride);
  std::string answer = std::to_string(n) + " of " + std::to_string(stride) + " bytes";
  for (std::uint32_t i = 0; records && i < n; ++i)
    answer += ", " + text(records[i].name) + " in '" + text(records[i].cgroup_dir) + "' is " +
              std::to_string(records[i].handle);
  return {records ? KOORD_OK : kNothing, answer};
}

Reply topology(const Side& side, const koord_snapshot* snapshot) {
  const koord_topology* topology = side.get(&koord_svc_state::topology, snapshot);
  if (!topology) return kNothing;
  const std::string cpus =
      std::to_string(topology->n_cpus) + " CPUs with flags " + std::to_string(topology->cpus[0].flags);
  return {KOORD_OK, cpus + ", " + std::to_string(topology->numa_nodes[0].memory_bytes) + " bytes"};
}

Reply node_slo(const Side& side, const koord_snapshot* snapshot) {
  const koord_str slo = side.get(&koord_svc_state::node_slo, snapshot);
  return {slo.n ? KOORD_OK : kNothing, text(slo)};
}

// Releases the snapshot and returns the log line about it. A child does not wait for log lines, so this makes one more
// call.
Reply release(const Side& side, const koord_snapshot* snapshot, koord_status expected) {
  const log::Capture log;
  side.call(&koord_svc_state::release, snapshot);
  (void)side.call(&koord_svc_clock::now_ns);
  return {expected,
          log.contains("com.acme.x: released a snapshot that it does not hold, ignoring") ? "logged" : "not logged"};
}

Reply processes(const Side& side, std::uint64_t subject, std::uint32_t cap = 4) {
  std::int32_t pids[4] = {};
  std::uint32_t need = 77;
  const koord_status status = side.call(&koord_svc_state::processes, subject, pids, cap, &need);
  std::string answer = std::to_string(need);
  for (const std::int32_t pid : pids) answer += " " + std::to_string(pid);
  return {status, answer};
}

constexpr std::uint64_t kPodHandle = 1, kDockerHandle = 2;

// clang-format off
const RowsOf<koord_svc_state> kRows = {
    {"acquire",
     [](const Side& s) {
       const koord_snapshot* snapshot = nullptr;
       const koord_status status = s.call(&koord_svc_state::acquire, &snapshot);
       s.call(&koord_svc_state::release, snapshot);
       return status;
     },
     KOORD_OK},
    {"acquire NULL", [](const Side& s) { return s.call(&koord_svc_state::acquire, nullptr); }, KOORD_E_INVALID},
    {"release",
     [](const Side& s) {
       const koord_snapshot* snapshot = nullptr;
       REQUIRE(s.call(&koord_svc_state::acquire, &snapshot) == KOORD_OK);
       return release(s, snapshot, KOORD_OK);
     },
     KOORD_OK, "not logged"},
    {"release one of two holds", [](const Side& s) { const Held other(s), first(s); return node(s, first); }, KOORD_OK},
    {"release NULL", [](const Side& s) { return release(s, nullptr, kNothing); }, kNothing, "not logged"},
    {"release what it does not hold",
     [](const Side& s) { return release(s, reinterpret_cast<const koord_snapshot*>(&kPodHandle), kNothing); }, kNothing, "logged"},

    {"version of the node", [](const Side& s) { return version(s, Held(s), KOORD_ON_NODE); }, KOORD_OK},
    {"version of the pods", [](const Side& s) { return version(s, Held(s), KOORD_ON_PODS); }, KOORD_OK},
    {"version of the NodeSLO", [](const Side& s) { return version(s, Held(s), KOORD_ON_NODE_SLO); }, KOORD_OK},
    {"version of the topology", [](const Side& s) { return version(s, Held(s), KOORD_ON_TOPOLOGY); }, KOORD_OK},
    {"version of the configuration", [](const Side& s) { return version(s, Held(s), KOORD_ON_CONFIG); }, kNothing, "0"},
    {"version of two parts", [](const Side& s) { return version(s, Held(s), KOORD_ON_NODE | KOORD_ON_PODS); }, kNothing, "0"},
    {"version without a snapshot", [](const Side& s) { return version(s, nullptr, KOORD_ON_NODE); }, kNothing, "0"},
    {"node", [](const Side& s) { return node(s, Held(s)); }, KOORD_OK, "node-1 zone=a"},
    {"node without a snapshot", [](const Side& s) { return node(s, nullptr); }, kNothing},
    {"pods", [](const Side& s) { return list(s, &koord_svc_state::pods, Held(s)); }, KOORD_OK},
    {"pods without a snapshot", [](const Side& s) { return list(s, &koord_svc_state::pods, nullptr); }, kNothing},
    {"pods without counts",
     [](const Side& s) { return s.get(&koord_svc_state::pods, Held(s), nullptr, nullptr) ? KOORD_OK : kNothing; }, KOORD_OK},
    {"containers", [](const Side& s) { return list(s, &koord_svc_state::containers, Held(s)); }, KOORD_OK},
    {"containers without a snapshot", [](const Side& s) { return list(s, &koord_svc_state::containers, nullptr); }, kNothing},
    {"topology", [](const Side& s) { return topology(s, Held(s)); }, KOORD_OK},
    {"topology without a snapshot", [](const Side& s) { return topology(s, nullptr); }, kNothing},
    {"NodeSLO", [](const Side& s) { return node_slo(s, Held(s)); }, KOORD_OK, R"({"x": 1})"},
    {"NodeSLO without a snapshot", [](const Side& s) { return node_slo(s, nullptr); }, kNothing},

    {"subscribe to unknown parts", [](const Side& s) { return s.call(&koord_svc_state::subscribe, 1u << 30); }, KOORD_E_UNSUPPORTED},
    {"subscribe", [](const Side& s) { return s.call(&koord_svc_state::subscribe, KOORD_ON_PODS); }, KOORD_OK},

    {"processes of a pod", [](const Side& s) { return processes(s, kPodHandle); }, KOORD_OK, "2 11 12 0 0"},
    {"processes without room", [](const Side& s) { return processes(s, kPodHandle, 1); }, KOORD_E_TOO_SMALL, "2 0 0 0 0"},
    {"processes of an unknown cgroup", [](const Side& s) { return processes(s, kDockerHandle); }, KOORD_E_AGAIN},
    {"processes of nothing", [](const Side& s) { return processes(s, KOORD_NO_SUBJECT); }, KOORD_E_INVALID},
    {"processes of an unknown subject", [](const Side& s) { return processes(s, 4711); }, KOORD_E_GONE},
    {"processes without pids", [](const Side& s) { std::uint32_t need = 0; return s.call(&koord_svc_state::processes, kPodHandle, nullptr, 4, &need); },
     KOORD_E_INVALID},
    {"processes without need", [](const Side& s) { return s.call(&koord_svc_state::processes, 4711, nullptr, 0, nullptr); }, KOORD_E_INVALID},
};
// clang-format on

}  // namespace

TEST_CASE("koord.state/1 gives a plugin in the agent and one in a child the same answer") { kRows.check(); }

TEST_CASE("an unknown or empty part of the state is NULL in both runners") {
  BothRunners both;  // it knows only one pod
  for (const Side& side : {both.near_side, both.far_side}) {
    const Held snapshot(side);
    CHECK(node(side, snapshot).status == kNothing);
    CHECK(topology(side, snapshot).status == kNothing);
    CHECK(node_slo(side, snapshot).status == kNothing);
    const Reply containers = list(side, &koord_svc_state::containers, snapshot);
    CHECK(containers.status == kNothing);
    CHECK(containers.answer.starts_with("0 of "));
  }
}
