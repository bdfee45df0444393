// SPDX-License-Identifier: Apache-2.0
// koord.state/1: snapshots of the node, held by the plugin between acquire and release.
#include "core/host/arguments.hpp"
#include "core/host/serve.hpp"
#include "core/host/services.hpp"

namespace koord::host {
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

const koord_node* node(const koord_snapshot* snapshot) {
  return snapshot ? view_of(snapshot).node() : nullptr;
}

template <class Record>
const Record* list(std::span<const Record> records, std::uint32_t* n, std::uint32_t* stride) {
  if (n) *n = static_cast<std::uint32_t>(records.size());
  if (stride) *stride = sizeof(Record);
  return records.data();
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

koord_str node_slo(const koord_snapshot* snapshot) {
  return snapshot ? view_of(snapshot).node_slo() : koord_str{};
}

koord_status subscribe(const koord_host* host, std::uint32_t parts) {
  return serve(host, [&](PluginContext& context) -> Result<void> {
    // The configuration's event comes unasked; naming it is no mistake.
    if (std::uint32_t unknown = parts & ~(kEveryPart | KOORD_ON_CONFIG))
      return refuse(KOORD_E_UNSUPPORTED,
                    "parts has bits that this host does not know: " + std::to_string(unknown));
    context.subscribe(parts);
    return {};
  });
}

}  // namespace

const koord_svc_state state_service = {
    sizeof state_service, 0,        acquire,  release,  version, node, pods,
    containers,           topology, node_slo, subscribe};

}  // namespace koord::host
