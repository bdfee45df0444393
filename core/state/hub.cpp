// SPDX-License-Identifier: Apache-2.0
#include "core/state/hub.hpp"

#include <algorithm>

namespace koord::state {
namespace {

// Sorts by `key`. If two items have the same key, the first is kept.
template <class Item, class Key>
void sort_and_unify(std::vector<Item>& items, Key key) {
  std::stable_sort(items.begin(), items.end(), [&](const Item& a, const Item& b) { return a.*key < b.*key; });
  auto same = [&](const Item& a, const Item& b) { return a.*key == b.*key; };
  items.erase(std::unique(items.begin(), items.end(), same), items.end());
}

// Copies a part to the new snapshot if it differs. The first publication always counts as a change.
template <class T>
bool replace(T& current, std::uint64_t& version, T&& update) {
  if (version != 0 && current == update) return false;
  current = std::forward<T>(update);
  ++version;
  return true;
}

bool same_text(const std::shared_ptr<const std::string>& a, const std::shared_ptr<const std::string>& b) {
  return a == b || (a && b && *a == *b);
}

bool replace_text(std::shared_ptr<const std::string>& current, std::shared_ptr<const std::string> update) {
  if (!update || same_text(current, update)) return false;
  current = std::move(update);
  return true;
}

// Recomputes the CPU owners from the node, its pods and its topology. They count as part of the topology.
bool replace_owners(Snapshot& next, bool has_new_version) {
  if (next.versions.topology == 0) return false;
  CpuOwners owners = find_cpu_owners(next.node, next.pods, next.topology);
  if (next.cpu_owners && *next.cpu_owners == owners) return false;
  next.cpu_owners = std::make_shared<const CpuOwners>(std::move(owners));
  if (!has_new_version) ++next.versions.topology;
  return true;
}

// Replaces parts that have neither a version nor subscribers.
bool replace_unversioned(Snapshot& next, Update update) {
  bool changed = replace_text(next.received_slo, std::move(update.received_slo));
  changed |= replace_text(next.cluster_slo, std::move(update.cluster_slo));
  for (auto& [kind, text] : update.objects) changed |= replace_text(next.objects[kind], std::move(text));
  if (update.kubelet && next.kubelet != update.kubelet) {
    next.kubelet = std::move(update.kubelet);
    changed = true;
  }
  if (update.volumes && next.volumes != *update.volumes) {
    next.volumes = *std::move(update.volumes);
    changed = true;
  }
  return changed;
}

}  // namespace

Hub::Hub() : current_(std::make_shared<Snapshot>()) {}

Hub::~Hub() = default;

SnapshotPtr Hub::current() const {
  std::lock_guard lock(current_mutex_);
  return current_;
}

std::uint32_t Hub::publish(Update update) {
  std::lock_guard lock(publishing_);
  auto next = std::make_shared<Snapshot>(*current());
  std::vector<std::uint64_t> ended;
  std::uint32_t changed = 0;
  auto put = [&changed](bool differs, Part part) {
    if (differs) changed |= part;
  };
  if (update.pods) {
    sort_and_unify(*update.pods, &Pod::uid);
    Handles handles;
    assign_handles(*update.pods, handles);
    retire(pod_handles_, std::move(handles), ended);
  }
  if (update.standalone) {
    sort_and_unify(*update.standalone, &Container::id);
    Handles handles;
    assign_handles(*update.standalone, {}, standalone_handles_, handles);
    retire(standalone_handles_, std::move(handles), ended);
  }
  put(replace_workloads(*next, std::move(update.pods), std::move(update.standalone)), kPods);
  if (update.node) put(replace(next->node, next->versions.node, *std::move(update.node)), kNode);
  if (update.node_slo) put(replace(next->node_slo, next->versions.node_slo, *std::move(update.node_slo)), kNodeSlo);
  if (update.topology) put(replace(next->topology, next->versions.topology, *std::move(update.topology)), kTopology);
  if (changed & (kNode | kPods | kTopology)) put(replace_owners(*next, (changed & kTopology) != 0), kTopology);
  const bool others_changed = replace_unversioned(*next, std::move(update));
  if (changed == 0 && !others_changed) return 0;
  {
    std::lock_guard current_lock(current_mutex_);
    current_ = next;
  }
  if (changed != 0) announce(changed, ended, next);
  return changed;
}

void Hub::confirm(Part part, Time at) {
  std::lock_guard lock(current_mutex_);
  confirmed_[part] = at;
}

std::optional<Time> Hub::confirmed(Part part) const {
  std::lock_guard lock(current_mutex_);
  const auto found = confirmed_.find(part);
  return found == confirmed_.end() ? std::nullopt : std::optional(found->second);
}

// Pods and standalone containers share a version.
bool Hub::replace_workloads(Snapshot& next, std::optional<std::vector<Pod>> pods,
                            std::optional<std::vector<Container>> standalone) {
  if (!pods && !standalone) return false;
  bool first = next.versions.pods == 0;
  bool differs = first || (pods && *pods != static_cast<const std::vector<Pod>&>(next.pods)) ||
                 (standalone && *standalone != next.standalone);
  if (!differs) return false;
  if (pods) next.pods = *std::move(pods);
  if (standalone) next.standalone = *std::move(standalone);
  ++next.versions.pods;
  return true;
}

void Hub::assign_handles(std::vector<Pod>& pods, Handles& next) {
  for (Pod& pod : pods) {
    pod.handle = handle_of("pod\n" + pod.uid, pod_handles_, next);
    assign_handles(pod.containers, pod.uid, pod_handles_, next);
  }
}

// Assigns handles. A container without an id is identified by its pod and name until the runtime assigns an id. After
// that, it gets a different handle.
void Hub::assign_handles(std::vector<Container>& containers, const std::string& owner, const Handles& known,
                         Handles& next) {
  for (Container& container : containers) {
    std::string key = container.id.empty() ? owner + '\n' + container.name : container.id;
    container.handle = handle_of(key + '\n' + std::to_string(container.incarnation), known, next);
  }
}

std::uint64_t Hub::handle_of(const std::string& key, const Handles& known, Handles& next) {
  auto old = known.find(key);
  auto [place, added] = next.try_emplace(key, old == known.end() ? 0 : old->second);
  if (place->second == 0) place->second = ++last_handle_;
  return place->second;
}

void Hub::retire(Handles& current, Handles next, std::vector<std::uint64_t>& ended) {
  for (const auto& [key, handle] : current) {
    if (!next.contains(key)) ended.push_back(handle);
  }
  current = std::move(next);
}

void Hub::announce(std::uint32_t changed, const std::vector<std::uint64_t>& ended, const SnapshotPtr& snapshot) {
  for (const Subscriber& subscriber : subscribers_) {
    if (!subscriber.on_end) continue;
    for (std::uint64_t handle : ended) subscriber.on_end(handle);
  }
  for (const Subscriber& subscriber : subscribers_) {
    if (subscriber.on_change) subscriber.on_change(changed, snapshot);
  }
}

std::uint64_t Hub::subscribe(OnChange on_change) {
  std::lock_guard lock(publishing_);
  subscribers_.push_back({++last_subscription_, std::move(on_change), {}});
  return last_subscription_;
}

std::uint64_t Hub::on_subject_end(OnSubjectEnd on_end) {
  std::lock_guard lock(publishing_);
  subscribers_.push_back({++last_subscription_, {}, std::move(on_end)});
  return last_subscription_;
}

void Hub::remove(std::uint64_t subscription) {
  std::lock_guard lock(publishing_);
  std::erase_if(subscribers_, [subscription](const Subscriber& s) { return s.id == subscription; });
}

}  // namespace koord::state
