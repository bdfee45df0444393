// SPDX-License-Identifier: Apache-2.0
// The whole agent with the NRI socket of a runtime that has 250 pods with 256 KiB of annotations each, and sends them
// in parts, as runtimes since NRI 0.7 do. The messages are composed by the test, because the packaged containerd has
// NRI 0.6.
#include <doctest/doctest.h>

#include "core/base/file.hpp"
#include "core/base/parse.hpp"
#include "core/hook/nri/types.hpp"
#include "test/core/hook/nri/fake_runtime.hpp"
#include "test/core/hook/nri/runtime_messages.hpp"
#include "test/support/agent_process.hpp"
#include "test/support/loop_here.hpp"
#include "test/support/sanitized.hpp"

using namespace koord;
using namespace koord::test;

namespace {

constexpr std::size_t kPods = 250, kPodsOfPart = 15, kAnnotationBytes = 256 << 10;
constexpr const char* kAmounts =
    R"({"containers": {"main": {"requests": {"kubernetes.io/batch-cpu": "500"}, "limits": {"kubernetes.io/batch-cpu": "800"}}}})";
// The encoded NRI message OptionalUInt64 with the value 512: the CPU shares.
constexpr std::string_view kShares = "\x08\x80\x04";

Fill pod_with(std::size_t number, const std::string& annotation) {
  return [number, &annotation](nri::Writer& pod) {
    pod.text(1, "sandbox-" + std::to_string(number));
    pod.text(2, "web-" + std::to_string(number));
    pod.text(3, "uid-" + std::to_string(number));
    pod.text(4, "shop");
    pod.map(5, {{"koordinator.sh/qosClass", "BE"}});
    pod.map(6, {{"node.koordinator.sh/extended-resource-spec", kAmounts}, {"unused", annotation}});
    pod.message(8, [](nri::Writer& linux_part) { linux_part.text(3, "/koord-test-none/besteffort/pod"); });
  };
}

std::vector<std::string> parts(const std::string& annotation) {
  std::vector<std::string> requests;
  for (std::size_t at = 0; at < kPods; at += kPodsOfPart) {
    const std::size_t end = std::min(kPods, at + kPodsOfPart);
    std::vector<Fill> pods, containers;
    for (std::size_t i = at; i < end; ++i) {
      pods.push_back(pod_with(i, annotation));
      containers.push_back(container_of("container-" + std::to_string(i), "sandbox-" + std::to_string(i)));
    }
    requests.push_back(synchronize_request(pods, containers, end < kPods));
  }
  return requests;
}

// Returns the largest resident memory of the agent so far.
std::size_t most_bytes(AgentProcess& agent) {
  const std::string status = read_file("/proc/" + std::to_string(agent.process().pid()) + "/status").value();
  std::string_view rest = std::string_view(status).substr(status.find("VmHWM:") + 6);
  return static_cast<std::size_t>(parse_int(*next_word(rest)).value()) << 10;
}

}  // namespace

TEST_CASE(
    "fault 13: 250 pods with 256 KiB of annotations each are taken in parts, in bounded memory, on one connection") {
  const std::string annotation(kAnnotationBytes, 'x');
  LoopHere here;
  TemporaryFolder folder;
  const std::string socket = folder / "nri.sock";
  AgentProcess agent("state: {source: cgroup}\nqos: {mode: enforce, directory: " + folder / "qos" +
                         "}\nfeatureGates: {BatchResource: true}\nhooks: {nri: {socket: " + socket +
                         "}, deadline: 1s}\n",
                     {built("plugins/hook-batch-resource")});
  agent.run_by({"env", "KOORD_SHARED_CGROUP_TREE=1"});
  REQUIRE(agent.start());
  const std::size_t before = most_bytes(agent);
  FakeRuntime runtime(
      here.loop, socket,
      {.configure = configure_request("containerd", "2.1.0", "0.9.0"), .synchronize = parts(annotation)});
  REQUIRE_MESSAGE(here.until([&] { return runtime.is_synchronized(); }), agent.log());
  for (const nri::Response& answer : runtime.synchronize_answers) CHECK(answer.status.code == nri::Code::ok);
  CHECK(runtime.synchronize_answers.size() == (kPods + kPodsOfPart - 1) / kPodsOfPart);

  const std::uint32_t call =
      runtime.call("CreateContainer", event_request(pod_with(0, annotation), [](nri::Writer& container) {
                     container.text(1, "new");
                     container.text(3, "main");
                   }));
  REQUIRE(here.until([&] { return runtime.answer_to(call) != nullptr; }));
  CHECK(runtime.answer_to(call)->payload.find(kShares) != std::string::npos);
  CHECK(runtime.accepted == 1);
  // All pods together are 64 MiB, one part is 4 MiB.
  if (!kSanitized) CHECK_MESSAGE(most_bytes(agent) - before < 24u << 20, (most_bytes(agent) - before));
}
