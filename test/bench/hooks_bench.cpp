// SPDX-License-Identifier: Apache-2.0
// The dispatch of one container to all hooks of this build, up to the composed values of the answer. Compared with
// passing as many empty tasks to the same number of workers and waiting for each.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <future>
#include <string>
#include <vector>

#include "core/hook/creation.hpp"
#include "core/host/hook_dispatcher.hpp"
#include "measure.hpp"
#include "test/core/host/stage.hpp"

using namespace koord;
using namespace koord::test;

namespace {

constexpr int kRequests = 5000;
constexpr std::size_t kWorkers = 2;
constexpr double kMostP99Us = 1000;
constexpr const char* kGates =
    "BatchResource=true,CoreSched=true,CPUNormalization=true,CPUSetAllocator=true,GPUEnvInject=true,GroupIdentity=true,"
    "OOMScoreAdj=true,RDMADeviceInject=true,Resctrl=true,TCNetworkQoS=true";
constexpr const char* kHooks[] = {
    "hook-batch-resource", "hook-core-sched", "hook-cpu-normalization", "hook-cpuset", "hook-gpu",
    "hook-group-identity", "hook-network",    "hook-oom-score-adj",     "hook-rdma",   "hook-resctrl"};

double percentile(std::vector<double> values, double p) {
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(std::ceil(p * static_cast<double>(values.size()))) - 1];
}

// Returns the microseconds of each call.
template <class Work>
std::vector<double> microseconds_of(const Work& work) {
  std::vector<double> all;
  for (int i = 0; i < kRequests; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    all.push_back(std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count());
  }
  return all;
}

host::HookRequest request() {
  state::Pod pod;
  pod.uid = "u1";
  pod.namespace_ = "batch";
  pod.name = "etl";
  pod.kube_qos = state::KubeQos::best_effort;
  pod.koord_qos = state::KoordQos::be;
  pod.labels["koordinator.sh/qosClass"] = "BE";
  pod.annotations["scheduling.koordinator.sh/device-allocated"] = R"({"gpu":[{"minor":1}]})";
  state::Container main;
  main.name = "main";
  main.resources = {{"kubernetes.io/batch-cpu", 500, 800}, {"kubernetes.io/batch-memory", 64 << 20, 64 << 20}};
  pod.resources = main.resources;
  pod.containers = {main};
  return {.stage = KOORD_STAGE_PRE_CREATE_CONTAINER, .pod = pod, .container = main};
}

}  // namespace

int main() {
  HostStage stage({}, kWorkers);
  const char* build = std::getenv("KOORD_BUILD");
  if (build == nullptr) return std::puts("KOORD_BUILD is not set: run the benchmark through meson"), 1;
  stage.settings().own_directories.clear();
  for (const char* hook : kHooks) stage.settings().own_directories.push_back(std::string(build) + "/plugins/" + hook);
  stage.apply(kGates);
  std::size_t running = 0;
  for (const char* hook : kHooks) running += stage.await(hook, host::PluginState::running);
  host::HookDispatcher dispatcher{{.hooks = [&](std::uint32_t at) { return stage.manager().hooks(at); },
                                   .clock = stage.host().clock(),
                                   .metrics = stage.metrics()}};
  const std::size_t asked = stage.manager().hooks(KOORD_STAGE_PRE_CREATE_CONTAINER).size();
  const host::HookRequest container = request();
  std::size_t answers = 0;
  const std::vector<double> ours = microseconds_of([&] {
    host::HookVerdict verdict = dispatcher.dispatch(container);
    hook::choose_settings(verdict);
    answers += hook::adjustment_of(verdict, {}, false).resources.cpu_shares.has_value();
  });
  event::WorkerPool pool(kWorkers);
  const std::vector<double> bare = microseconds_of([&] {
    std::vector<std::promise<void>> done(asked);
    for (std::promise<void>& one : done) pool.post([&one] { one.set_value(); });
    for (std::promise<void>& one : done) one.get_future().wait();
  });
  std::printf("%zu of %zu hooks run, %zu are asked\n", running, std::size(kHooks), asked);
  for (const double p : {0.5, 0.99}) {
    const std::string name = p == 0.5 ? "NR3 dispatch to all hooks, median" : "NR3 dispatch to all hooks, p99";
    bench::print_ratio(name, percentile(ours, p), "empty tasks", percentile(bare, p), "us", 10);
  }
  return asked > 0 && answers == kRequests && percentile(ours, 0.99) <= kMostP99Us ? 0 : 1;
}
