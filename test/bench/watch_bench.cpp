// SPDX-License-Identifier: Apache-2.0
// Measures the time from a change in the API server to a plugin's on_event(): the test server stores a NodeSLO, its
// watch sends it over TLS, the agent's parts read and publish it, and the event reaches a plugin's strand. Measures two
// times: from the start of the request, which includes the time of the test server in Python, and from the answer to
// the request.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include "core/base/clock.hpp"
#include "core/cgroup/layout.hpp"
#include "core/kube/client.hpp"
#include "core/state/api_source.hpp"
#include "test/core/host/stage.hpp"
#include "test/support/child_process.hpp"
#include "test/support/test_cluster.hpp"

using namespace koord;
using namespace koord::test;

namespace {

constexpr int kChanges = 500;
using Steady = std::chrono::steady_clock;

double ms(Steady::duration d) { return std::chrono::duration<double, std::milli>(d).count(); }

double percentile(std::vector<double> values, double p) {
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(std::ceil(p * static_cast<double>(values.size()))) - 1];
}

void print(const char* from, const std::vector<double>& values) {
  std::printf("%-52s p50 %6.2f ms  p99 %6.2f ms  max %6.2f ms  target p99 <= 20\n", from, percentile(values, 0.5),
              percentile(values, 0.99), percentile(values, 1));
}

std::string node_slo(int percent) {
  return R"({"kind": "NodeSLO", "metadata": {"name": "test-node"}, "spec": {"resourceUsedThresholdWithBE": {"cpuSuppressThresholdPercent": )" +
         std::to_string(percent) + "}}}";
}

// The API source with its own loop and workers, as in the agent.
class Source {
 public:
  Source(const TestCluster& cluster, state::Hub& hub) {
    client_.emplace(loop_, workers_, clock_, kube::find_config(cluster.kubeconfig()).value(), kube::ClientOptions());
    thread_ = std::thread([this, &hub] {
      state::ApiSource::Options options;
      options.node = "test-node";
      source_.emplace(state::ApiSource::Parts{loop_, workers_, clock_, hub, *client_, cgroup::Layout()}, options,
                      state::ApiSource::Handlers());
      loop_.run();
      source_.reset();
    });
  }
  ~Source() {
    loop_.stop();
    thread_.join();
  }

 private:
  SystemClock clock_;
  event::Loop loop_;
  event::WorkerPool workers_{2};
  std::optional<kube::Client> client_;
  std::optional<state::ApiSource> source_;
  std::thread thread_;
};

}  // namespace

int main() {
  TestCluster cluster;
  cluster.put(node_slo(50));
  HostStage stage{"puppet"};
  Puppet puppet(stage.shelf().file("puppet"));
  std::atomic<int> events = 0;
  std::atomic<Steady::rep> reported = 0;
  puppet.on("init", [](const PuppetCall& call) {
    return static_cast<const koord_svc_state*>(call.host->get_service(call.host, "koord.state/1"))
        ->subscribe(call.host, KOORD_ON_NODE_SLO);
  });
  puppet.on("on_event", [&](const PuppetCall&) {
    reported = Steady::now().time_since_epoch().count();
    ++events;
    return KOORD_OK;
  });
  stage.apply("Puppet=true");
  if (!puppet.await("init")) return 1;
  Source source(cluster, stage.host().hub());
  if (!eventually([&] { return stage.host().hub().current()->node_slo.find(":50") != std::string::npos; })) return 1;

  std::vector<double> from_request, from_answer;
  for (int i = 0; i < kChanges; ++i) {
    const int before = events;
    const auto asked = Steady::now();
    cluster.put(node_slo(51 + i % 2));
    const auto done = Steady::now();
    const auto limit = done + std::chrono::seconds(20);
    while (events == before && Steady::now() < limit) std::this_thread::yield();
    if (events == before) {
      std::printf("the plugin got no event of a change within 20 s\n");
      return 1;
    }
    const Steady::time_point at{Steady::duration(reported)};
    from_request.push_back(ms(at - asked));
    from_answer.push_back(std::max(0.0, ms(at - done)));
  }
  print("change to on_event(), with the server's own time", from_request);
  print("change to on_event(), after the server's answer", from_answer);
  stage.stop();
  return 0;
}
