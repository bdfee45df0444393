// SPDX-License-Identifier: Apache-2.0
// koord.state/1: snapshots of the node, which a plugin acquires and releases.
#include <algorithm>

#include "core/cgroup/processes.hpp"
#include "core/service/arguments.hpp"
#include "core/service/serve.hpp"
#include "core/service/services.hpp"

namespace koord::service {
namespace {

constexpr std::uint32_t kEveryPart = KOORD_ON_NODE | KOORD_ON_PODS | KOORD_ON_NODE_SLO | KOORD_ON_TOPOLOGY;

koord_status acquire(const koord_host* host, const koord_snapshot** snapshot) {
  return serve(host, [&](PluginContext& context) -> Result<void> {
    TRY(pointer_argument(snapshot, "snapshot"));
    SharedServices& shared = context.shared();
    SnapshotViewPtr view = shared.views.of(shared.hub.current());
    if (!view->knows_anything()) return refuse(KOORD_E_AGAIN, "nothing is known of this node yet");
    *snapshot = context.snapshots().acquire(std::move(view));
    return {};
  });
}

void release(const koord_host* host, const koord_snapshot* snapshot) {
  serve(host, [&](PluginContext& context) {
    if (snapshot && !context.snapshots().release(snapshot))
      context.log(KOORD_LOG_ERROR, "released a snapshot that it does not hold, ignoring");
    return KOORD_OK;
  });
}

std::uint64_t version(const koord_snapshot* snapshot, std::uint32_t part) {
  return snapshot ? view_of(snapshot).version(part) : 0;
}

const koord_node* node(const koord_snapshot* snapshot) { return snapshot ? view_of(snapshot).node() : nullptr; }

template <class Record>
const Record* list(std::span<const Record> records, std::uint32_t* n, std::uint32_t* stride) {
  if (n) *n = static_cast<std::uint32_t>(records.size());
  if (stride) *stride = sizeof(Record);
  return records.empty() ? nullptr : records.data();
}

const koord_pod* pods(const koord_snapshot* snapshot, std::uint32_t* n, std::uint32_t* stride) {
  return list(snapshot ? view_of(snapshot).pods() : std::span<const koord_pod>(), n, stride);
}

const koord_container* containers(const koord_snapshot* snapshot, std::uint32_t* n, std::uint32_t* stride) {
  return list(snapshot ? view_of(snapshot).standalone() : std::span<const koord_container>(), n, stride);
}

const koord_topology* topology(const koord_snapshot* snapshot) {
  return snapshot ? view_of(snapshot).topology() : nullptr;
}

koord_str node_slo(const koord_snapshot* snapshot) { return snapshot ? view_of(snapshot).node_slo() : koord_str{}; }

koord_status subscribe(const koord_host* host, std::uint32_t parts) {
  return serve(host, [&](PluginContext& context) -> Result<void> {
    // The event of a configuration change needs no subscription. `parts` may still name it.
    if (std::uint32_t unknown = parts & ~(kEveryPart | KOORD_ON_CONFIG))
      return refuse(KOORD_E_UNSUPPORTED, "parts has bits that this host does not know: " + std::to_string(unknown));
    context.subscribe(parts);
    return {};
  });
}

koord_status processes(const koord_host* host, std::uint64_t subject, std::int32_t* pids, std::uint32_t cap,
                       std::uint32_t* need) {
  return serve(host, [&](PluginContext& context) -> Result<koord_status> {
    TRY(pointer_argument(need, "need"));
    TRY(check_array(pids, cap, sizeof *pids, sizeof *pids, "pids"));
    if (subject == KOORD_NO_SUBJECT)
      return invalid("subject is KOORD_NO_SUBJECT, expected the handle of a pod or container");
    SharedServices& shared = context.shared();
    const SnapshotViewPtr view = shared.views.of(shared.hub.current());
    const std::optional<std::string_view> cgroup = view->cgroup_of(subject);
    if (!cgroup) return refuse(KOORD_E_GONE, "no pod or container has the handle " + std::to_string(subject));
    if (cgroup->empty()) return refuse(KOORD_E_AGAIN, "the cgroup of this pod or container is not known yet");
    const std::vector<std::int32_t> found = TRY(cgroup::processes_below(shared.cgroups.layout(), *cgroup));
    *need = static_cast<std::uint32_t>(found.size());
    if (found.size() > cap) return KOORD_E_TOO_SMALL;
    std::copy(found.begin(), found.end(), pids);
    return KOORD_OK;
  });
}

}  // namespace

const koord_svc_state state_service = {sizeof state_service, 0,        acquire,  release,   version,  node, pods,
                                       containers,           topology, node_slo, subscribe, processes};

}  // namespace koord::service
