// SPDX-License-Identifier: Apache-2.0
// EvictingNode: a simulated node with pods, one plugin that evicts, and a host that evicts like core/evict, in the
// plan's order, until the evicted and the still ending pods release enough. An evicted pod ends half a minute later.
// The plugin is evaluated each second.
#pragma once

#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "test/support/fake_samples.hpp"
#include "test/support/plant.hpp"
#include "test/support/recording.hpp"

namespace koord::test {

class EvictingNode {
 public:
  static constexpr double kGraceSeconds = 30;

  EvictingNode(const koord_module* plugin, std::string node_slo, const Plant::Machine& machine = {.cpus = 16})
      : plant_(machine), host_(node_), samples_(host_), strategy_(host_, plugin) {
    state::Node object;
    object.name = "n1";
    object.capacity = {{"cpu", machine.cpus * 1000}, {"memory", static_cast<std::int64_t>(machine.memory_bytes)}};
    host_.hub().publish({.node = object, .pods = std::vector<state::Pod>{}, .node_slo = std::move(node_slo)});
    plant_.add("others");
    plugin::check(strategy_.init(), "init: " + strategy_.why());
  }

  // Adds a pod of class BE that may be evicted. `request`: milli-cores or bytes.
  void add(const std::string& name, Workload workload, const std::string& resource, std::int64_t request) {
    state::Pod pod;
    pod.uid = pod.name = name;
    pod.namespace_ = "batch";
    pod.koord_qos = state::KoordQos::be;
    pod.priority_class = state::PriorityClass::batch;
    pod.phase = state::Phase::running;
    pod.labels = {{"koordinator.sh/qosClass", "BE"}, {"koordinator.sh/eviction-enabled", "true"}};
    state::Container container;
    container.id = "containerd://" + name;
    container.state = state::ContainerState::running;
    container.resources = {{resource, request, request}};
    pod.containers = {container};
    pods_.push_back(pod);
    plant_.add(name);
    plant_.run(name, std::move(workload));
    host_.hub().publish({.pods = pods_});
  }
  void run_others(Workload workload) { plant_.run("others", std::move(workload)); }

  void run(double seconds) {
    for (const double end = plant_.now() + seconds; plant_.now() < end;) second();
  }

  // Adds samples in addition to the samples of the node and the pods. Called each second, before the plugin.
  std::function<void(FakeSamples&, Plant&)> measure = [](FakeSamples&, Plant&) {};

  Plant& plant() { return plant_; }
  std::size_t pods() const { return pods_.size(); }
  const std::vector<std::pair<double, std::string>>& evicted() const { return evicted_; }  // times and pods
  std::size_t requests() const { return requests_; }
  const Recording& recording() const { return recording_; }

 private:
  void second() {
    plant_.advance(1);
    host_.clock().advance(std::chrono::seconds(1));
    end_pods();
    append_samples();
    plugin::check(strategy_.evaluate(), "evaluate: " + strategy_.why());
    for (const evict::Request& request : host_.context().take_evictions()) grant(request);
    recording_.note("cores", plant_.now(), plant_.of("").cpu_cores);
    recording_.note("GiB", plant_.now(), plant_.of("").memory_bytes / (1 << 30));
    recording_.note("pods", plant_.now(), static_cast<double>(pods_.size()));
  }

  void append_samples() {
    samples_.add("node_cpu_usage", plant_.of("").cpu_cores);
    samples_.add("node_memory_usage", plant_.of("").memory_bytes);
    for (const state::Pod& pod : host_.hub().current()->pods) {
      samples_.add("pod_cpu_usage", plant_.of(pod.uid).cpu_cores, pod.handle);
      samples_.add("pod_memory_usage", plant_.of(pod.uid).memory_bytes, pod.handle);
    }
    measure(samples_, plant_);
  }

  double releases(const state::Pod& pod, const std::string& resource) const {
    if (resource == "cpu") return plant_.of(pod.uid).cpu_cores * 1000;
    if (resource == "memory") return plant_.of(pod.uid).memory_bytes;
    for (const state::Resource& one : pod.containers[0].resources)
      if (one.name + ".request" == resource) return static_cast<double>(one.request);
    return 0;
  }

  void grant(const evict::Request& request) {
    ++requests_;
    auto missing = static_cast<double>(request.amount);
    const auto pods = host_.hub().current()->pods;
    for (const state::Pod& pod : pods)
      if (ends_.contains(pod.uid)) missing -= releases(pod, request.resource);
    for (std::uint64_t handle : request.pods) {
      if (missing <= 0) return;
      const auto pod =
          std::find_if(pods.begin(), pods.end(), [handle](const state::Pod& one) { return one.handle == handle; });
      if (pod == pods.end() || ends_.contains(pod->uid)) continue;
      missing -= releases(*pod, request.resource);
      ends_[pod->uid] = plant_.now() + kGraceSeconds;
      evicted_.emplace_back(plant_.now(), pod->uid);
    }
  }

  void end_pods() {
    const std::size_t before = pods_.size();
    std::erase_if(pods_, [&](const state::Pod& pod) {
      const auto end = ends_.find(pod.uid);
      if (end == ends_.end() || end->second > plant_.now()) return false;
      plant_.remove(pod.uid);
      ends_.erase(end);
      return true;
    });
    if (pods_.size() != before) host_.hub().publish({.pods = pods_});
  }

  Plant plant_;
  FakeNode node_;
  FakeHost host_;
  FakeSamples samples_;
  FakeInstance strategy_;
  std::vector<state::Pod> pods_;
  std::map<std::string, double> ends_;
  std::vector<std::pair<double, std::string>> evicted_;
  std::size_t requests_ = 0;
  Recording recording_;
};

}  // namespace koord::test
