// SPDX-License-Identifier: Apache-2.0
// A kubelet that lists 250 pods with 256 KiB of annotations each, over a real connection.
#include <doctest/doctest.h>
#include <malloc.h>

#include <fstream>

#include "core/kube/client.hpp"
#include "core/state/kubelet_source.hpp"
#include "test/support/fake_node.hpp"
#include "test/support/loop_here.hpp"
#include "test/support/sanitized.hpp"
#include "test/support/test_cluster.hpp"

using namespace koord;
using namespace koord::state;
using namespace koord::test;
using namespace std::chrono_literals;

namespace {

constexpr int kPods = 250;
constexpr std::size_t kAnnotationBytes = 256u << 10;

std::string list_of_pods() {
  std::string text = "[";
  const std::string filler(kAnnotationBytes - 1024, 'x');
  for (int i = 0; i < kPods; ++i) {
    const std::string number = std::to_string(i);
    text += (i == 0 ? "" : ",") + std::string(R"({"metadata":{"name":"p)") + number +
            R"(","namespace":"shop","uid":"u)" + number + R"(","annotations":{"example.org/notes":")" + filler +
            R"(","koordinator.sh/priority":"1"}},"spec":{"containers":[{"name":"app"}]},)" +
            R"("status":{"phase":"Running","qosClass":"Burstable"}})";
  }
  return text + "]";
}

// Returns the largest resident memory of this process since reset_peak().
std::int64_t peak_bytes() {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("VmHWM:")) return std::stoll(line.substr(6)) * 1024;
  return 0;
}
void reset_peak() {
  ::malloc_trim(0);
  std::ofstream("/proc/self/clear_refs") << "5";
}

struct Taking : LoopHere {
  TestCluster cluster;
  FakeNode node{{{"cgroup/cgroup.controllers", "cpu memory\n"}}};
  SystemClock clock;
  Hub hub;
};

}  // namespace

TEST_CASE_FIXTURE(Taking, "250 pods with 256 KiB of annotations each are taken within 128 MiB") {
  cluster.set_pods(list_of_pods());
  const auto api = kube::find_config(cluster.kubeconfig());
  REQUIRE(api);
  kube::Client client(loop, workers, clock,
                      kube::kubelet_config(*api, "127.0.0.1", cluster.kubelet_port(), cluster.kubelet_ca(), ""), {});
  KubeletSource source({loop, workers, clock, hub, *cgroup::Layout::detect(node.roots())}, {.timeout = 60s}, {});
  reset_peak();
  source.begin([&](kube::Call call, kube::Client::OnPiece on_piece, kube::Client::OnReply on_reply) {
    return on_piece ? client.download(std::move(call), std::move(on_piece), std::move(on_reply))
                    : client.send(std::move(call), std::move(on_reply));
  });
  REQUIRE(until([&] { return hub.current()->pods.size() == kPods || !source.status().pods_problem.empty(); }));
  CHECK(source.status().pods_problem == "");
  REQUIRE(hub.current()->pods.size() == kPods);
  CHECK(hub.current()->pods[0].annotations == StringMap{{"koordinator.sh/priority", "1"}});
  MESSAGE("peak: ", peak_bytes() >> 20, " MiB");
  if (!kSanitized) CHECK(peak_bytes() < (128ll << 20));
  source.end();
}
