// SPDX-License-Identifier: Apache-2.0
// NodeMetricBodies: the bodies of reports of many nodes, with different numbers in each.
#pragma once

#include <random>
#include <string>

namespace koord::bench {

class NodeMetricBodies {
 public:
  NodeMetricBodies(int nodes, int pods) : nodes_(nodes), pods_(pods) {}

  int nodes() const { return nodes_; }
  static std::string name(int node) { return "node-" + std::to_string(10000 + node) + ".cluster.example"; }
  std::string body(int node) {
    std::string text = R"({"kind":"NodeMetric","apiVersion":"metrics.koordetector.sh/v1alpha1","metadata":{"name":")" +
                       name(node) + R"("},"status":{"updateTime":"2026-01-02T03:04:05Z","nodeMetric":{"nodeUsage":)" +
                       usage() + R"(,"systemUsage":)" + usage() + R"(},"podsMetric":[)";
    for (int pod = 0; pod < pods_; ++pod) {
      text += pod == 0 ? "{\"name\":\"" : ",{\"name\":\"";
      text += "web-" + std::to_string(pod) + "-7d4b9c6f5-x2x9z\",\"namespace\":\"shop-" + std::to_string(pod % 10) +
              R"(","podUsage":)" + usage() +
              R"(,"priority":"koord-prod","qos":"LS","pressure":{"ioStallSeconds":0.01}})";
    }
    return text + R"(],"prodReclaimableMetric":{"resource":)" + usage() + "}}}";
  }

 private:
  std::string usage() {
    return R"({"resources":{"cpu":")" + std::to_string(random_() % 64000) + R"(m","memory":")" +
           std::to_string(random_() % 100'000'000'000) + "\"}}";
  }

  const int nodes_, pods_;
  std::mt19937_64 random_{1};
};

}  // namespace koord::bench
