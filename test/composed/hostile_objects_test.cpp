// SPDX-License-Identifier: Apache-2.0
// Objects of a broken or hostile server: pods of the kubelet and NodeSLOs of the API server, for an agent that enforces
// memory.low of a pod in a tree of plain files. With every object: no file outside of the pod's own cgroup changes, the
// last valid state stays, the problem names the object and the field, the agent is ready, and after the strategy is off
// every file has its original value.
#include <doctest/doctest.h>

#include <cstring>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/file.hpp"
#include "test/support/agent_process.hpp"
#include "test/support/fake_node.hpp"
#include "test/support/sanitized.hpp"
#include "test/support/test_cluster.hpp"

using namespace koord::test;
using namespace std::chrono_literals;

namespace {

constexpr auto kLong = 2min;
constexpr const char* kLow = "67108864";  // the request of the pod web
constexpr const char* kGood =
    R"({"resourceQOSStrategy": {"lsClass": {"memoryQOS": {"enable": true, "lowLimitPercent": 100}}}})";
const std::string kContainerId(64, 'a');
const std::string kWeb = "kubepods/burstable/poduid-web";
const std::string kOwn = "kubepods/burstable/poduid-own";  // cgroup of hostile pods that the agent may accept

bool holds(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

// Returns the JSON of a pod. `metadata`, `spec` and `status`: members, each with a leading comma.
std::string pod(const std::string& name, const std::string& uid, const std::string& metadata = {},
                const std::string& spec = {}, const std::string& status = {},
                const std::string& resources = R"({"requests": {"memory": "64Mi"}})",
                const std::string& container_id = "containerd://" + kContainerId) {
  const std::string labels = R"("labels": {"koordinator.sh/qosClass": "LS"})";
  const std::string statuses =
      R"([{"name": "app", "containerID": ")" + container_id + R"(", "state": {"running": {}}}])";
  return R"({"metadata": {"name": ")" + name + R"(", "namespace": "shop", "uid": ")" + uid + "\", " + labels +
         metadata + R"(}, "spec": {"containers": [{"name": "app", "resources": )" + resources + "}]" + spec +
         R"(}, "status": {"phase": "Running", "qosClass": "Burstable", "containerStatuses": )" + statuses + status +
         "}}";
}

const std::string kGoodPod = pod("web", "uid-web", "", R"(, "nodeName": "test-node")");

std::string list_of(const std::string& items) { return R"({"kind": "PodList", "items": [)" + items + "]}"; }

// Returns the text as a JSON string.
std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (char c : text) out += c == '"' || c == '\\' ? std::string("\\") + c : std::string(1, c);
  return out + "\"";
}

class Node {
 public:
  Node() {
    tree.write("cgroup/cgroup.controllers", "cpu memory\n");
    for (const std::string& dir : {kWeb, kWeb + "/" + kContainerId, kOwn}) add_cgroup(dir);
    // Cgroups that an unchecked uid, container id or annotation would reach.
    for (const std::string trap : {"kubepods/trap", "kubepods/burstable/trap", "kubepods/burstable/poduid-other"})
      for (const std::string& dir : {trap, trap + "/" + kContainerId}) add_cgroup(dir);
    cluster.set_kubelet_config(R"({"cgroupDriver": "cgroupfs"})");
    cluster.set_pods("[" + kGoodPod + "]");
    set_slo(kGood);
    const std::string kubelet = "{caFile: \"" + cluster.kubelet_ca() + "\", timeout: 20s, syncPeriod: 1s}";
    agent.emplace("roots: {cgroup: \"" + tree.roots().cgroup + "\"}\ncluster: {kubeconfig: \"" + cluster.kubeconfig() +
                      "\"}\n" + "state: {source: kubelet, kubelet: " + kubelet +
                      "}\nfeatureGates: {CgroupReconcile: true}\nqos: {mode: enforce}\n",
                  std::vector<std::string>{built("plugins/qos-cgroup-reconcile")});
    before = files();
    REQUIRE(agent->start());
    REQUIRE_MESSAGE(eventually([&] { return is_enforced(); }, kLong), agent->log());
  }

  void set_slo(const std::string& spec) {
    cluster.put(R"({"kind": "NodeSLO", "metadata": {"name": "test-node"}, "spec": )" + spec + "}");
  }
  // Sets the kubelet's answer. `more`: further arguments of the fault.
  void answer_pods(const std::string& body, const std::string& more = {}) {
    cluster.clear_fault("answer");
    cluster.fault("answer", R"({"server": "kubelet", "path": "/pods", "body": )" + quoted(body) + more + "}");
  }
  // Makes the next watch of NodeSLO answer with this line and then end.
  void answer_next_watch(const std::string& line) {
    const std::string after = std::to_string(cluster.requests().back().index);
    cluster.fault("answer",
                  R"({"verb": "watch", "kind": "NodeSLO", "count": 1, "body": )" + quoted(line) + R"(, "tail": "\n"})");
    cluster.fault("end_watches");
    cluster.wait_for_requests(R"({"verb": "watch", "kind": "NodeSLO", "open": false, "after": )" + after + "}");
  }
  std::string newest_version() {
    const std::string answer = cluster.command("version");
    const std::size_t begin = answer.find_first_of("0123456789");
    return answer.substr(begin, answer.find_first_not_of("0123456789", begin) - begin);
  }
  void wait_for_lists(std::size_t count) {
    const std::size_t so_far = cluster.requests(R"({"server": "kubelet", "path": "/pods", "open": false})").size();
    cluster.wait_for_requests(R"({"server": "kubelet", "path": "/pods", "open": false, "count": )" +
                              std::to_string(so_far + count) + "}");
  }

  bool is_enforced() const { return low(kWeb) == kLow && low(kWeb + "/" + kContainerId) == kLow; }
  bool is_ready() const { return agent->status_of("/readyz") == 200; }
  std::string problem() const { return agent->get("/api/v1/capabilities"); }
  bool knows_only_web() const {
    const std::string known = agent->ctl({"pods"}).output;
    return holds(known, "1 pods from") && holds(known, "web");
  }
  // Returns the files that differ although the agent has no reason to write them, one line each.
  std::string strays() const {
    std::string all;
    for (const auto& [path, text] : files()) {
      const bool is_own =
          path.starts_with(tree.path("cgroup/" + kWeb)) || path.starts_with(tree.path("cgroup/" + kOwn));
      const auto found = before.find(path);
      if (!is_own && (found == before.end() || found->second != text)) all += path + ": " + text + "\n";
    }
    return all;
  }
  std::map<std::string, std::string> files() const {
    std::map<std::string, std::string> all;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(tree.path("cgroup")))
      if (entry.is_regular_file()) all[entry.path()] = koord::read_file(entry.path()).value_or("(unreadable)");
    return all;
  }
  void check_undone() {
    cluster.clear_faults();
    set_slo("{}");
    CHECK(eventually([&] { return files() == before; }, kLong));
    CHECK(agent->stop() == 0);
  }

  FakeNode tree;
  TestCluster cluster;
  std::optional<AgentProcess> agent;
  std::map<std::string, std::string> before;

 private:
  std::string low(const std::string& dir) const {
    return koord::read_file(tree.path("cgroup/" + dir + "/memory.low")).value_or("");
  }
  void add_cgroup(const std::string& dir) {
    for (const auto& [file, text] :
         {std::pair("memory.min", "0"), std::pair("memory.low", "0"), std::pair("memory.high", "max"),
          std::pair("memory.max", "max"), std::pair("memory.oom.group", "0")})
      tree.write("cgroup/" + dir + "/" + file, text);
  }
};

struct HostilePod {
  const char* name;
  std::string object;
  const char* problem;  // a part of the agent's message; empty: the object itself is valid
};

std::vector<HostilePod> hostile_pods() {
  const auto with_memory = [](const std::string& amount) {
    return pod("p", "uid-other", "", "", "", R"({"requests": {"memory": )" + amount + "}}");
  };
  const auto with_container = [](const std::string& id) {
    return pod("p", "uid-own", "", "", "", R"({"requests": {"memory": "1Gi"}})", id);
  };
  const std::string key = "\"koordetector.sh/cgroup-dir", trap = "\": \"kubepods/trap";
  const std::string named = ", \"annotations\": {" + key + trap + "\", " + key + ".app" + trap + "/x\"}";
  return {
      {"a uid that climbs", pod("p", "../../trap"), "pod shop/p: '../../trap' cannot be a directory's name"},
      {"a uid of two dots", pod("p", ".."), ""},
      {"a name with a newline and a NUL", pod("p\\nq\\u0000r", "uid\\nother\\u0000"), "cannot be a directory's name"},
      {"a container that climbs", with_container("containerd://../../trap"), ""},
      {"a container beside its pod", with_container("containerd://../trap"), ""},
      {"a negative amount", with_memory("\"-64Mi\""),
       "items[1].spec.containers[0].resources.requests.memory: '-64Mi' is negative"},
      {"an amount with two suffixes", with_memory("\"1e3Ei\""), "requests.memory: '1e3Ei' is not a quantity"},
      {"an amount that is too large", with_memory("\"1e30\""), "requests.memory: quantity '1e30' is out of range"},
      {"an amount that is infinite", with_memory("1e400"), "requests.memory: 'inf' is not a quantity"},
      {"a list as its spec", R"({"metadata": {"name": "p", "uid": "uid-other"}, "spec": []})", ""},
      {"no status", R"({"metadata": {"name": "p", "uid": "uid-none"}, "spec": {"containers": [{"name": "app"}]}})", ""},
      {"a class that its resources contradict", pod("p", "uid-none", "", "", R"(, "qosClass": "Guaranteed")", "{}"),
       ""},
      {"the uid of another pod", pod("double", "uid-web", "", "", "", R"({"requests": {"memory": "1Gi"}})"),
       "pod shop/double: metadata.uid: 'uid-web' is that of pod shop/web, left out"},
      {"a cgroup named by an annotation", pod("p", "uid-own", named), ""},
      {"a pod of another node", pod("p", "uid-other", "", R"(, "nodeName": "elsewhere")"),
       "pod shop/p: spec.nodeName: found 'elsewhere', expected 'test-node', left out"},
  };
}

// Values of lsClass.memoryQOS.lowLimitPercent, and the reported error. A rejected field has its default, which is 0
// here.
constexpr std::pair<const char*, const char*> kHostileFields[] = {
    {"-1", "resourceQOSStrategy.lsClass.memoryQOS.lowLimitPercent: found -1, expected an integer from 0 to 100"},
    {"101", "lowLimitPercent: found 101, expected an integer from 0 to 100"},
    {"\"100\"", "lowLimitPercent: found \\\"100\\\", expected an integer"},
    {"100.5", "lowLimitPercent: found 1.005E2, expected an integer"},
    {"9223372036854775808", "lowLimitPercent: found 9223372036854775808, expected an integer"},
    {"[100]", "lowLimitPercent: found [100], expected an integer"},
    {"true", "lowLimitPercent: found true, expected an integer"},
};

// Lines of a watch of NodeSLO that the agent must reject, and the agent's message.
std::vector<std::pair<std::string, const char*>> hostile_events(const std::string& version) {
  const auto event = [&](const std::string& type, const std::string& name, const std::string& spec) {
    const std::string metadata = R"({"name": ")" + name + R"(", "resourceVersion": ")" + version + "\"}";
    return R"({"type": ")" + type + R"(", "object": {"kind": "NodeSLO", "metadata": )" + metadata + R"(, "spec": )" +
           spec + "}}";
  };
  const std::string off = "{}";
  return {
      {event("MODIFIED", "another-node", off), ""},
      {event("DELETED", "another-node", off), ""},
      {event("ADDED", "aaa", off), ""},
      {event("MODIFIED", "test-node", "[]"), "spec: expected a mapping, found a list"},
      {event("MODIFIED", "test-node", R"({"a": )" + std::string(100, '[') + std::string(100, ']') + "}"), "not JSON"},
      {event("MODIFIED", "test-node", R"({"a": )" + std::string(10'000, '[') + std::string(10'000, ']') + "}"),
       "expected fewer levels"},
      {event("RENAMED", "test-node", off), "a watch's event of type 'RENAMED'"},
  };
}

}  // namespace

TEST_CASE(
    "hostile pods in the kubelet's list are left out and named, the others are used, and no other file is written") {
  Node node;
  for (const HostilePod& row : hostile_pods()) {
    INFO(std::string(row.name));
    node.answer_pods(list_of(kGoodPod + "," + row.object));
    if (*row.problem != 0)
      CHECK_MESSAGE(eventually([&] { return holds(node.problem(), row.problem); }), node.problem());
    node.wait_for_lists(2);
    CHECK_MESSAGE(node.strays() == "", node.strays());
    CHECK(node.is_enforced());
    CHECK(node.is_ready());
  }
  node.check_undone();
}

TEST_CASE("answers that are not a list of this node's pods leave the pods unchanged and take little memory") {
  Node node;
  const auto stays = [&](const char* problem) {
    CHECK_MESSAGE(eventually([&] { return holds(node.problem(), problem); }, kLong), node.problem());
    CHECK_MESSAGE(node.strays() == "", node.strays());
    CHECK(node.knows_only_web());
    CHECK(node.is_enforced());
    CHECK(node.is_ready());
  };
  node.answer_pods(list_of(kGoodPod).substr(0, 300));
  stays("/pods: not JSON");
  node.answer_pods(R"({"kind": "PodList", "items": null})");
  stays("no pods are listed while cgroups of pods are there");
  node.answer_pods(list_of(pod("p", "uid-other", "", R"(, "nodeName": "elsewhere")")));
  stays("spec.nodeName: found 'elsewhere'");
  // More than 100 MB of pods. Each has 40 bytes in the answer and needs much more in memory.
  node.answer_pods(
      R"({"items": [)",
      R"(, "filler": "{\"metadata\": {\"uid\": \"1\", \"name\": \"a\"}},", "times": 2700000, "tail": "{}]}")");
  stays("items: found more than 4096 pods");
  node.answer_pods(R"({"items": [{"metadata": {"name": "a", "uid": "b", "labels": {"a": ")",
                   R"(, "filler": "xxxxxxxxxx", "times": 10000000, "tail": "\"}}}]}")");
  stays("the pod has more than 4 MiB to read");
  if (!kSanitized) {
    const std::string status =
        koord::read_file("/proc/" + std::to_string(node.agent->process().pid()) + "/status").value();
    const std::size_t at = status.find("VmHWM:");
    REQUIRE(at != std::string::npos);
    CHECK_MESSAGE(std::stol(status.substr(at + 6)) < 128 << 10, status.substr(at, 30));
  }
  node.check_undone();
}

TEST_CASE("hostile fields of a NodeSLO get their defaults, and are named") {
  Node node;
  for (const auto& [value, problem] : kHostileFields) {
    INFO(value);
    node.set_slo(R"({"resourceQOSStrategy": {"lsClass": {"memoryQOS": {"enable": true, "lowLimitPercent": )" +
                 std::string(value) + "}}}}");
    CHECK_MESSAGE(eventually([&] { return holds(node.problem(), problem); }), node.problem());
    CHECK_MESSAGE(eventually([&] { return node.files() == node.before; }, kLong), node.strays());
    CHECK(node.is_ready());
    node.set_slo(kGood);
    CHECK(eventually([&] { return node.is_enforced(); }, kLong));
  }
  node.set_slo(std::string(kGood, std::strlen(kGood) - 1) + R"(, "x": ")" + std::string(1 << 20, 'x') + "\"}");
  node.wait_for_lists(2);
  CHECK(node.is_enforced());
  CHECK(node.is_ready());
  node.check_undone();
}

TEST_CASE("invalid watch events leave the last valid NodeSLO, and are named") {
  Node node;
  int rows = 0;
  for (const auto& [line, problem] : hostile_events(node.newest_version())) {
    INFO(line.substr(0, 120));
    node.answer_next_watch(line);
    if (*problem != 0) CHECK_MESSAGE(eventually([&] { return holds(node.problem(), problem); }, kLong), node.problem());
    node.wait_for_lists(2);
    CHECK_MESSAGE(node.strays() == "", node.strays());
    CHECK(node.is_enforced());
    CHECK(node.is_ready());
    // The next row begins with a valid watch.
    const std::string row = "\"row\":" + std::to_string(++rows);
    node.set_slo(std::string(kGood, std::strlen(kGood) - 1) + R"(, "extensions": {)" + row + "}}");
    CHECK(eventually([&] { return holds(node.agent->get("/api/v1/slo"), row); }, kLong));
  }
  node.check_undone();
}
