// SPDX-License-Identifier: Apache-2.0
// Annotations about the owners of CPUs, and a NodeSLO's applications, with any content: the result is a set of CPUs and
// amounts, or a sentence with the problem.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/state/cpu_owners.hpp"
#include "core/state/snapshot.hpp"
#include "plugins/qos-cpu-suppress/best_effort_applications.hpp"
#include "test/fuzz/check.hpp"

using namespace koord;

namespace {

state::Topology eight_cpus() {
  state::Topology topology;
  for (int cpu = 0; cpu < 8; ++cpu)
    topology.cpus.push_back({.cpu = cpu, .core = cpu / 2, .socket = cpu / 4, .online = true});
  return topology;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  static const state::Topology topology = eight_cpus();
  state::Node node;
  node.annotations[std::string(state::kReservationAnnotation)] = text;
  node.annotations[std::string(state::kSystemQosAnnotation)] = text;
  state::Pod pod;
  pod.koord_qos = state::KoordQos::lsr;
  pod.annotations[std::string(state::kResourceStatusAnnotation)] = text;
  const state::CpuOwners owners = state::find_cpu_owners(node, {pod}, topology);
  check(owners.reservation_is_whole || !owners.node_problems.empty());
  check(owners.pod_problems.size() <= 1);
  for (const std::string& problem : owners.node_problems) check(!problem.empty());
  for (const CpuSet* cpus : {&owners.reserved, &owners.system, &owners.lsr})
    check(CpuSet::parse(cpus->list()).value() == *cpus);
  check(owners.lsr == state::scheduled_cpus(pod));
  const auto applications = usage::parse_best_effort_applications(text);
  check(applications.has_value() || !applications.error().message().empty());
  return 0;
}
