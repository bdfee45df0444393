// SPDX-License-Identifier: Apache-2.0
// The agent while the API server and the kubelet fail in all known ways: it keeps running, and reports no wrong values.
#include <doctest/doctest.h>

#include <map>
#include <string>

#include "daemonset_pod.hpp"

using namespace koord::test;
using namespace std::chrono_literals;

namespace {

constexpr auto kLimit = 120s;  // includes back-off
const PodSpec kWeb{.name = "web-0", .uid = "1b4e28ba-2fa1-11d2-883f-0016d3cca427", .digit = 'a'};
const PodSpec kNext{.name = "next-0", .uid = "6fa459ea-ee8a-3ca4-894e-db77e160355e", .digit = 'b'};

void put_slo(DaemonSetPod& pod, int threshold) {
  pod.cluster.put(R"({"kind": "NodeSLO", "metadata": {"name": "test-node"}, "spec": {"resourceUsedThresholdWithBE":
    {"enable": true, "cpuSuppressThresholdPercent": )" +
                  std::to_string(threshold) + "}}}");
}

bool threshold_becomes(DaemonSetPod& pod, int threshold) {
  return eventually([&] { return pod.seen("witness_threshold") == threshold; }, kLimit);
}

// An agent that knows its pod and its NodeSLO, and has its watches open.
struct Settled : DaemonSetPod {
  Settled() {
    run_pods({kWeb});
    put_slo(*this, 50);
    REQUIRE(start());
    REQUIRE(threshold_becomes(*this, 50));
    REQUIRE(eventually([&] { return seen("witness_pods") == 1 && memory_of("web-0") > 0; }, kLimit));
    cluster.wait_for_requests(R"({"verb": "watch", "kind": "NodeSLO", "status": 200})");
  }
  std::int64_t last_request() {
    const auto all = cluster.requests();
    return all.empty() ? -1 : all.back().index;
  }
  // Waits for this many matching requests after `after`, answered or not.
  void wait_for(std::int64_t after, const std::string& wanted) {
    cluster.wait_for_requests("{\"after\": " + std::to_string(after) + ", " + wanted + "}",
                              std::chrono::seconds(kLimit));
  }
  // Checks that the pod is still known, and that the agent has not restarted.
  void check_nothing_is_lost() {
    CHECK(alive());
    CHECK(seen("witness_pods") == 1);
    CHECK(memory_of("web-0") == bytes_of(kWeb));
    CHECK(seen("witness_threshold") == 50);
  }
};

}  // namespace

TEST_CASE("fault 16: a silent kubelet changes nothing, and once it answers again pods come and go") {
  struct Fault {
    const char* name;
    const char* arguments;
  };
  Settled pod;
  for (const Fault& fault :
       {Fault{"empty", R"({"server": "kubelet"})"}, Fault{"not_ready", R"({"server": "kubelet"})"},
        Fault{"garbage", R"({"server": "kubelet"})"}, Fault{"endless", R"({"server": "kubelet"})"},
        Fault{"cut", R"({"server": "kubelet", "after_bytes": 200})"},
        Fault{"garbage", R"({"server": "kubelet", "body": "{\"kind\": \"PodList\", \"items\": [7]}"})"},
        Fault{"hang", R"({"server": "kubelet"})"}, Fault{"deny", R"({"server": "kubelet"})"}}) {
    INFO(std::string(fault.name));
    pod.cluster.fault(fault.name, fault.arguments);
    const std::int64_t before = pod.last_request();
    pod.wait_for(before, R"("server": "kubelet", "path": "/pods", "count": 2)");
    pod.check_nothing_is_lost();
    pod.cluster.clear_faults();
    pod.wait_for(pod.last_request(), R"("server": "kubelet", "path": "/pods", "status": 200, "open": false)");
  }
  pod.run_pods({kNext});
  CHECK(eventually([&] { return pod.memory_of("next-0") > 0 && pod.memory_of("web-0") == -1; }, kLimit));
}

TEST_CASE("fault 16: while the kubelet is down its pods stay, and after it the new ones are there") {
  Settled pod;
  pod.cluster.fault("down", R"({"server": "kubelet"})");
  CHECK(eventually([&] { return pod.agent.get("/readyz").find("kubelet") != std::string::npos; }, kLimit));
  pod.check_nothing_is_lost();
  pod.run_pods({kWeb, kNext});
  pod.cluster.clear_faults();
  CHECK(eventually([&] { return pod.memory_of("next-0") > 0; }, kLimit));
}

TEST_CASE("fault 17: changes made while the API server was away arrive after it, and nothing is written in a burst") {
  Settled pod;
  pod.cluster.fault("down");
  const std::int64_t before = pod.last_request();
  put_slo(pod, 30);
  pod.wait_for(before, R"("server": "kubelet", "path": "/pods", "count": 3)");
  pod.check_nothing_is_lost();
  pod.cluster.clear_faults();
  CHECK(threshold_becomes(pod, 30));
  CHECK(pod.alive());
  std::map<std::string, int> writes;  // key: program and kind
  for (const ClusterRequest& request :
       pod.cluster.requests("{\"server\": \"api\", \"after\": " + std::to_string(before) + "}"))
    if (request.verb == "create" || request.verb == "update" || request.verb == "patch")
      ++writes[request.kind + "/" + request.subresource];
  for (const auto& [what, times] : writes) CHECK_MESSAGE(times == 1, what);
}

TEST_CASE("fault 17: an API server that answers with 500, 429, garbage or not at all is asked until it answers") {
  for (const char* fault : {"error", "too_many_requests", "garbage", "not_ready", "hang"}) {
    INFO(std::string(fault));
    Settled pod;
    pod.cluster.fault(fault, fault == std::string("error") ? R"({"code": 500})" : "{}");
    pod.cluster.fault("end_watches");
    const std::int64_t before = pod.last_request();
    put_slo(pod, 30);
    pod.wait_for(before, R"("server": "api", "kind": "NodeSLO", "count": 1)");
    pod.check_nothing_is_lost();
    pod.cluster.clear_faults();
    CHECK(threshold_becomes(pod, 30));
    CHECK(pod.alive());
  }
}

TEST_CASE("fault 20: tokens that rotate are read again as soon as one is refused") {
  Settled pod;
  for (int generation = 2; generation <= 5; ++generation) {
    const std::int64_t before = pod.last_request();
    pod.cluster.fault("rotate_token");
    pod.cluster.fault("end_watches");
    const std::string with_token = "\"token\": " + std::to_string(generation) + ", \"status\": 200";
    pod.wait_for(before, "\"server\": \"kubelet\", \"path\": \"/pods\", " + with_token);
    pod.wait_for(before, "\"server\": \"api\", \"kind\": \"NodeSLO\", \"verb\": \"watch\", " + with_token);
    put_slo(pod, 50 + generation);
    CHECK(threshold_becomes(pod, 50 + generation));
    CHECK(pod.seen("witness_pods") == 1);
  }
  CHECK(pod.alive());
}

TEST_CASE("fault 20: an expired token is read again until a new one exists") {
  Settled pod;
  pod.cluster.fault("expire_tokens");
  pod.cluster.fault("end_watches");
  pod.cluster.wait_for_requests(R"({"token": -1, "server": "api"})");
  pod.cluster.wait_for_requests(R"({"token": -1, "server": "kubelet"})");
  pod.check_nothing_is_lost();
  pod.cluster.fault("rotate_token");
  put_slo(pod, 31);
  CHECK(threshold_becomes(pod, 31));
  CHECK(pod.alive());
}

TEST_CASE("fault 20: with another CA and other serving certificates the agent goes on without a restart") {
  Settled pod;
  const std::int64_t before = pod.last_request();
  pod.cluster.fault("replace_ca");
  pod.cluster.fault("disconnect");
  pod.wait_for(before, R"("server": "kubelet", "path": "/pods", "status": 200)");
  put_slo(pod, 32);
  CHECK(threshold_becomes(pod, 32));
  CHECK(pod.alive());
}

TEST_CASE("a server with an unknown CA never receives the agent's token") {
  Settled pod;
  const std::int64_t before = pod.last_request();
  pod.cluster.fault("replace_ca", R"({"write": false})");
  pod.cluster.fault("disconnect");
  pod.wait_for(before, R"("server": "api", "verb": "handshake", "count": 2)");
  pod.wait_for(before, R"("server": "kubelet", "verb": "handshake", "count": 2)");
  CHECK(pod.agent.log().find("certificate") != std::string::npos);
  pod.check_nothing_is_lost();
  // No connection after the first with the new certificate carried a request.
  const std::string since = "\"after\": " + std::to_string(before);
  const auto refused = pod.cluster.requests("{\"verb\": \"handshake\", " + since + "}");
  for (const ClusterRequest& request : pod.cluster.requests("{" + since + "}"))
    CHECK((request.verb == "handshake" || request.connection < refused.front().connection));
  pod.cluster.fault("write_token");
  put_slo(pod, 33);
  CHECK(threshold_becomes(pod, 33));
}

TEST_CASE("a watch that is too old, cut off or ended continues with the changes in between") {
  Settled pod;
  int threshold = 70;
  const auto interrupted = [&](const char* how, const auto& interrupt) {
    INFO(how);
    interrupt();
    put_slo(pod, ++threshold);
    CHECK(threshold_becomes(pod, threshold));
  };
  interrupted("disconnect", [&] { pod.cluster.fault("disconnect", R"({"server": "api"})"); });
  interrupted("end_watches", [&] { pod.cluster.fault("end_watches"); });
  interrupted("gone as an event", [&] {
    pod.cluster.fault("gone", R"({"kind": "NodeSLO", "count": 1})");
    pod.cluster.fault("end_watches");
  });
  interrupted("gone as a status", [&] {
    pod.cluster.fault("gone", R"({"kind": "NodeSLO", "count": 1, "as": "status"})");
    pod.cluster.fault("end_watches");
  });
  interrupted("compact", [&] {
    pod.cluster.fault("hang", R"({"verb": "watch"})");
    pod.cluster.fault("disconnect", R"({"server": "api"})");
    put_slo(pod, ++threshold);
    pod.cluster.fault("compact");
    pod.cluster.clear_faults();
  });
  interrupted("cut in the middle of an event", [&] {
    pod.cluster.fault("cut", R"({"verb": "watch", "kind": "NodeSLO", "after_bytes": 40, "count": 1})");
    pod.cluster.fault("end_watches");
    pod.wait_for(pod.last_request() - 1, R"("verb": "watch", "kind": "NodeSLO")");
    put_slo(pod, ++threshold);
  });
  interrupted("an event without an end", [&] {
    pod.cluster.fault("endless", R"({"verb": "watch", "kind": "NodeSLO", "count": 1})");
    pod.cluster.fault("end_watches");
  });
  CHECK(pod.alive());
  CHECK(pod.seen("witness_pods") == 1);
}

TEST_CASE(
    "without the right to read NodeSLOs, or without their definition, the agent serves its pods and does not keep asking") {
  for (const std::string fault : {"deny", "missing"}) {
    INFO(std::string(fault));
    DaemonSetPod pod;
    pod.cluster.fault(fault, R"({"kind": "NodeSLO"})");
    put_slo(pod, 34);
    pod.run_pods({kWeb});
    REQUIRE(pod.start());
    CHECK(eventually([&] { return pod.memory_of("web-0") > 0; }, kLimit));
    pod.cluster.wait_for_requests(R"({"server": "kubelet", "path": "/pods", "count": 10})");
    CHECK(pod.seen("witness_threshold") != 34);
    CHECK(pod.cluster.requests(R"({"kind": "NodeSLO"})").size() <= 2);
  }
}

TEST_CASE("an agent that starts while both servers are down knows its pods when they are up again") {
  DaemonSetPod pod;
  pod.run_pods({kWeb});
  put_slo(pod, 35);
  pod.cluster.fault("down", R"({"server": "both"})");
  pod.agent.launch();
  REQUIRE(eventually([&] { return pod.agent.status_of("/healthz") == 200; }, kLimit));
  CHECK(pod.memory_of("web-0") == -1);
  pod.cluster.clear_faults();
  CHECK(eventually([&] { return pod.memory_of("web-0") > 0; }, kLimit));
  CHECK(threshold_becomes(pod, 35));
}
