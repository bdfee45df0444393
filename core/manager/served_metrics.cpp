// SPDX-License-Identifier: Apache-2.0
#include "core/manager/served_metrics.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "core/aggregated/failure.hpp"
#include "core/manager/manager_log.hpp"

namespace koord::manager {
namespace {

constexpr std::size_t kObjectsAtOnce = 256;

// Calls `visit` for the names of all objects.
template <class Visit>
void for_each_object(const aggregated::Store& store, const Visit& visit) {
  std::string last;
  while (true) {
    const std::vector<aggregated::ObjectPtr> objects = store.behind(last, kObjectsAtOnce);
    if (objects.empty()) return;
    for (const aggregated::ObjectPtr& object : objects) visit(object);
    last = objects.back()->name();
  }
}

}  // namespace

// The data of one epoch. It exists until its last response is sent.
struct ServedMetrics::Epoch {
  Epoch(aggregated::Version first, const Parts& parts, const Options& options,
        std::shared_ptr<aggregated::ApiCounters> counters)
      : store(first),
        api(store, parts.clock, &parts.loop,
            {.agent_user = options.agent_user,
             .counters = std::move(counters),
             .on_report = options.on_report,
             .complete_status = options.complete_status}),
        own(store, parts.clock) {}

  aggregated::Store store;
  aggregated::Api api;
  aggregated::Writing own;  // writes by this server itself
};

ServedMetrics::ServedMetrics(Parts parts, Options options) : parts_(std::move(parts)), options_(std::move(options)) {
  end();
}
ServedMetrics::~ServedMetrics() { current()->store.close(); }

std::shared_ptr<ServedMetrics::Epoch> ServedMetrics::current() const {
  const std::lock_guard lock(mutex_);
  return current_;
}

// Replaces the epoch. All watches of the previous epoch end.
void ServedMetrics::set_current(std::shared_ptr<Epoch> epoch) {
  {
    const std::lock_guard lock(mutex_);
    std::swap(current_, epoch);
  }
  if (epoch) epoch->store.close();
}

void ServedMetrics::begin(aggregated::Version first, aggregated::Version most) {
  auto epoch = std::make_shared<Epoch>(first, parts_, options_, counters_);
  epoch->store.reserve(most);
  set_current(std::move(epoch));
  is_running_ = true;
  serves_at_ = later(parts_.clock.now(), options_.fill);
  unknown_.clear();
}

void ServedMetrics::reserve(aggregated::Version most) {
  if (is_running_) current()->store.reserve(most);
}

std::optional<aggregated::Version> ServedMetrics::end() {
  const std::shared_ptr<Epoch> last = is_running_ ? current() : nullptr;
  auto idle = std::make_shared<Epoch>(aggregated::kLeastVersion, parts_, options_, counters_);
  idle->store.close();
  set_current(std::move(idle));
  is_running_ = false;
  return last ? std::optional(last->store.newest()) : std::nullopt;
}

std::optional<aggregated::Version> ServedMetrics::newest() const {
  return is_running_ ? std::optional(current()->store.newest()) : std::nullopt;
}

bool ServedMetrics::is_filling() const { return is_running_ && !current()->store.is_serving(); }

bool ServedMetrics::is_serving() const { return leads() && current()->store.is_serving(); }

aggregated::ObjectPtr ServedMetrics::find(const std::string& name) const {
  return is_running_ ? current()->store.find(name) : nullptr;
}

aggregated::Store::Put ServedMetrics::put_status(const aggregated::ObjectPtr& current_object, std::string status) {
  if (!is_running_ || !leads()) return aggregated::Store::Put::raced;
  return current()->own.put_status(current_object, std::move(status));
}

void ServedMetrics::check(const std::vector<std::string>& nodes) {
  if (!is_running_ || !leads()) return;
  Epoch& epoch = *current();
  if (!epoch.store.is_serving()) {
    const auto missing = static_cast<std::size_t>(
        std::count_if(nodes.begin(), nodes.end(), [&](const auto& name) { return !epoch.store.find(name); }));
    if ((nodes.empty() || missing > 0) && parts_.clock.now() < serves_at_) return;
    epoch.store.begin_serving();
    log::info(manager_log, "serves NodeMetrics: {} objects, {} of {} nodes have not reported yet",
              epoch.store.counters().objects, missing, nodes.size());
  }
  if (!nodes.empty()) remove_unknown(epoch, nodes);
}

// Removes the objects of nodes that have been unknown for a while. The delay is needed because a node may report before
// this replica knows it, and because the API server may briefly list too few nodes.
void ServedMetrics::remove_unknown(Epoch& epoch, const std::vector<std::string>& nodes) {
  const std::set<std::string_view> known(nodes.begin(), nodes.end());
  std::erase_if(unknown_,
                [&](const auto& entry) { return known.contains(entry.first) || !epoch.store.find(entry.first); });
  const Time now = parts_.clock.now();
  for_each_object(epoch.store, [&](const aggregated::ObjectPtr& object) {
    if (known.contains(object->name())) return;
    const auto since = unknown_.try_emplace(object->name(), now).first;
    if (now - since->second < options_.keep_unknown || !epoch.store.remove(object)) return;
    unknown_.erase(since);
    log::info(manager_log, "NodeMetric '{}' of the aggregated API is removed: there is no such node", object->name());
  });
}

void ServedMetrics::set_leader(std::string address) {
  const std::lock_guard lock(mutex_);
  leader_ = std::move(address);
}

http::Response ServedMetrics::refusal() const {
  std::string leader;
  {
    const std::lock_guard lock(mutex_);
    leader = leader_;
  }
  http::Response response = aggregated::to_response(aggregated::not_serving(
      "this replica of koord-manager does not lead" + (leader.empty() ? "" : "; the leader is at " + leader)));
  if (!leader.empty()) response.headers.emplace_back("X-Koordetector-Leader", leader);
  return response;
}

// The process may have been suspended between any two steps. So a write counts only if this replica still leads after
// it.
http::Response ServedMetrics::answer(const http::Request& request, const aggregated::Identity& identity) {
  const bool is_open = aggregated::Api::is_open_path(request.path);
  if (!is_open && !leads()) return refusal();
  const std::shared_ptr<Epoch> epoch = current();
  http::Response response = epoch->api.answer(request, identity);
  if (!is_open && !leads()) return refusal();
  if (!response.stream) return response;
  struct Held {
    std::shared_ptr<Epoch> epoch;
    std::shared_ptr<http::BodyStream> stream;
  };
  const auto held = std::make_shared<Held>(Held{epoch, std::move(response.stream)});
  response.stream = std::shared_ptr<http::BodyStream>(held, held->stream.get());
  return response;
}

aggregated::Store::Counters ServedMetrics::objects() const { return current()->store.counters(); }

}  // namespace koord::manager
