// SPDX-License-Identifier: Apache-2.0
#include "core/workshop/check/lent_snapshot.hpp"

#include "core/service/services.hpp"
#include "core/workshop/check/lent_memory.hpp"

namespace koord::check {
namespace {

// A lent snapshot. Its content is copied immediately, because seal() prevents later additions.
struct Lent {
  Lent(const koord_snapshot* snapshot, Lending terms) : memory(terms), real(snapshot) {
    const koord_svc_state& state = service::state_service;
    std::uint32_t stride = 0;
    const koord_pod* real_pods = state.pods(real, &n_pods, &stride);
    pods = memory.lend(real_pods, n_pods, stride);
    const koord_container* real_containers = state.containers(real, &n_containers, &stride);
    containers = memory.lend(real_containers, n_containers, stride);
    node = memory.lend(state.node(real));
    topology = memory.lend(state.topology(real));
    const koord_str slo = state.node_slo(real);
    node_slo = memory.lend(std::string_view(slo.p ? slo.p : "", slo.n));
    memory.seal();
  }

  LentMemory memory;
  const koord_snapshot* real;
  const koord_pod* pods;
  const koord_container* containers;
  const koord_node* node;
  const koord_topology* topology;
  koord_str node_slo;
  std::uint32_t n_pods = 0, n_containers = 0;
};

const Lent& lent(const koord_snapshot* snapshot) { return *reinterpret_cast<const Lent*>(snapshot); }

std::uint64_t version(const koord_snapshot* snapshot, std::uint32_t part) {
  return service::state_service.version(lent(snapshot).real, part);
}

const koord_node* node(const koord_snapshot* snapshot) { return lent(snapshot).node; }

const koord_pod* pods(const koord_snapshot* snapshot, std::uint32_t* n, std::uint32_t* stride) {
  *n = lent(snapshot).n_pods;
  *stride = lent(snapshot).memory.stride<koord_pod>();
  return lent(snapshot).pods;
}

const koord_container* containers(const koord_snapshot* snapshot, std::uint32_t* n, std::uint32_t* stride) {
  *n = lent(snapshot).n_containers;
  *stride = lent(snapshot).memory.stride<koord_container>();
  return lent(snapshot).containers;
}

const koord_topology* topology(const koord_snapshot* snapshot) { return lent(snapshot).topology; }

koord_str node_slo(const koord_snapshot* snapshot) { return lent(snapshot).node_slo; }

}  // namespace

const koord_snapshot* LentSnapshot::lend(const koord_snapshot* real, Lending terms) {
  return reinterpret_cast<const koord_snapshot*>(new Lent(real, terms));
}

const koord_snapshot* LentSnapshot::take_back(const koord_snapshot* snapshot) {
  auto* mine = const_cast<Lent*>(&lent(snapshot));
  mine->memory.take_back();
  return mine->real;  // lent memory is never reused, so `mine` remains valid
}

const koord_svc_state lent_state_service = {sizeof lent_state_service,
                                            0,
                                            nullptr,
                                            nullptr,
                                            version,
                                            node,
                                            pods,
                                            containers,
                                            topology,
                                            node_slo,
                                            nullptr,
                                            nullptr};

}  // namespace koord::check
