// SPDX-License-Identifier: Apache-2.0
#include "core/ctl/state_view.hpp"

#include <doctest/doctest.h>

using namespace koord;
using namespace koord::ctl;

TEST_CASE("an age is shown in the unit that has two figures or so, an unknown one as a dash") {
  CHECK(format_age(0) == "0s");
  CHECK(format_age(119) == "119s");
  CHECK(format_age(125) == "2m");
  CHECK(format_age(3 * 3600) == "3h");
  CHECK(format_age(40 * 86400) == "40d");
  CHECK(format_age(-5) == "0s");
  CHECK(format_age(std::nullopt) == "-");
}

TEST_CASE("pods are printed with the source and age of the list") {
  const char* answer = R"({"time": 1000, "state": {"source": "kubelet", "ageSeconds": {"pods": 3}},
    "pods": [{"namespace": "shop", "name": "web", "qosClass": "LS", "priorityClass": "koord-prod", "phase": "Running", "startTime": 400,
              "cgroup": "kubepods/podu1", "containers": [{"kind": "sandbox", "state": "running"}, {"kind": "init", "state": "terminated"},
              {"kind": "regular", "state": "running"}, {"kind": "sidecar", "state": "waiting"}]},
             {"namespace": "shop", "name": "old", "phase": "Running", "deleting": true, "containers": []}]})";
  CHECK(pods_text(answer).value() == "2 pods from: kubelet, as of 3s ago\n"
                                     "NAMESPACE  NAME  QOS  CLASS       PHASE        AGE  CONTAINERS  CGROUP\n"
                                     "shop       web   LS   koord-prod  Running      10m         1/2  kubepods/podu1\n"
                                     "shop       old   -    -           Terminating    -         0/0  -\n");
}

TEST_CASE("pods that are old say so, and why") {
  const char* answer =
      R"({"state": {"source": "kubelet", "ageSeconds": {"pods": 1800}, "problem": "degraded, keeping the last state: kubelet /pods: 503"}, "pods": []})";
  CHECK(pods_text(answer).value().starts_with(
      "0 pods from: kubelet, as of 30m ago\ndegraded, keeping the last state: kubelet /pods: 503\n"));
  CHECK(pods_text(R"({"state": {"source": "kubelet"}, "pods": []})")
            .value()
            .starts_with("0 pods from: kubelet, which were never known\n"));
}

TEST_CASE("the node is printed with its kubelet, its objects and the age of each part") {
  const char* answer =
      R"({"name": "n1", "uid": "u", "version": "1", "pods": 2, "cgroupHierarchy": "v2", "memoryBytes": 1073741824,
    "state": {"source": "kubelet", "ageSeconds": {"node": 1, "pods": 2}},
    "addresses": [{"type": "InternalIP", "address": "10.0.0.1"}], "capacity": {"cpu": 4000, "memory": 1073741824, "pods": 110},
    "labels": {"a": "b"}, "objects": {"NodeMetric": true, "Device": false},
    "kubelet": {"cgroupDriver": "systemd", "cpuManagerPolicy": "static", "cpuManagerPolicyOptions": {"full-pcpus-only": "true"}, "systemReserved": {"cpu": 500}}})";
  const std::string text = node_text(answer).value();
  for (const char* line :
       {"NODE                 n1\n", "pods                 2 from: kubelet\n",
        "known since          node 1s, pods 2s, nodeSLO never, topology never\n",
        "addresses            InternalIP 10.0.0.1\n", "capacity             cpu 4, memory 1.00Gi, pods 110\n",
        "labels               a=b\n", "kubelet cgroups      systemd, root -\n",
        "kubelet CPU manager  static, options full-pcpus-only=true, reserved CPUs -\n",
        "kubelet reserved     system cpu 0.5; kubelet -\n", "objects              NodeMetric, Device (none)\n"}) {
    INFO(text);
    CHECK(text.find(line) != std::string::npos);
  }
  CHECK(text.find("problem") == std::string::npos);
}

TEST_CASE("an answer without what is expected is printed without a crash, and one that is not an object is an error") {
  CHECK(pods_text("{}"));
  CHECK(node_text(R"({"objects": 3, "labels": [], "state": {"ageSeconds": "x"}, "capacity": {"cpu": "x"}})"));
  CHECK_FALSE(pods_text("[]"));
  CHECK_FALSE(node_text("garbage"));
}
