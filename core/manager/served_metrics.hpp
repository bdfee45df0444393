// SPDX-License-Identifier: Apache-2.0
// ServedMetrics: serves the NodeMetrics while this replica leads. Each time that it begins to lead, a new epoch starts
// with an empty store, and the next reports fill it. A replica that does not lead refuses all requests and names the
// leader. Functions are [loop thread] unless marked.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "core/aggregated/api.hpp"
#include "core/base/clock.hpp"
#include "core/event/loop.hpp"
#include "core/http/message.hpp"
#include "core/manager/leadership.hpp"

namespace koord::manager {

class ServedMetrics {
 public:
  struct Parts {
    event::Loop& loop;
    const Clock& clock;
    std::shared_ptr<const LeaderTime> leader_time;
  };
  struct Options {
    std::string agent_user = {};                      // see aggregated::ApiOptions
    Duration fill = std::chrono::seconds(15);         // reads are served at the latest after this time of an epoch
    Duration keep_unknown = std::chrono::minutes(1);  // how long objects of nodes that do not exist are kept
    std::function<void(const aggregated::PlainObject&)> on_report = {};  // [any]
    aggregated::CompleteStatus complete_status = {};                     // [any]
  };

  // Loop and clock must outlive this object and its responses.
  ServedMetrics(Parts parts, Options options);
  ~ServedMetrics();

  // Begins an epoch. Its versions are greater than `first` and not greater than `most`.
  void begin(aggregated::Version first, aggregated::Version most);
  void reserve(aggregated::Version most);
  // Ends the epoch. Returns its newest version; nullopt if no epoch ran.
  std::optional<aggregated::Version> end();
  std::optional<aggregated::Version> newest() const;  // nullopt: no epoch runs

  // Call it periodically. Begins to serve reads once all `nodes` have reported, or Options::fill has passed. Removes
  // objects of nodes that do not exist. `nodes`: all nodes of the cluster; empty: unknown.
  void check(const std::vector<std::string>& nodes);
  bool is_filling() const;

  aggregated::ObjectPtr find(const std::string& name) const;  // null: not found
  // Writes the status of an object by this server itself. This is not a report, but watches get an event. Returns
  // `raced` if a different write came in between, or this replica does not lead.
  aggregated::Store::Put put_status(const aggregated::ObjectPtr& current, std::string status);

  // Sets the leader's address, which a replica that does not lead names in its responses; "": unknown.
  void set_leader(std::string address);

  // [any]
  bool leads() const { return parts_.leader_time->leads(parts_.clock); }
  http::Response answer(const http::Request& request, const aggregated::Identity& identity);
  http::Response refusal() const;  // 503: this replica does not lead
  const aggregated::ApiCounters& counters() const { return *counters_; }
  aggregated::Store::Counters objects() const;
  bool is_serving() const;

 private:
  struct Epoch;
  std::shared_ptr<Epoch> current() const;
  void set_current(std::shared_ptr<Epoch> epoch);
  void remove_unknown(Epoch& epoch, const std::vector<std::string>& nodes);

  const Parts parts_;
  const Options options_;
  const std::shared_ptr<aggregated::ApiCounters> counters_ = std::make_shared<aggregated::ApiCounters>();
  bool is_running_ = false;  // an epoch runs
  Time serves_at_{};
  std::map<std::string, Time, std::less<>> unknown_;  // objects of nodes that do not exist, and since when
  mutable std::mutex mutex_;                          // protects the following members
  std::shared_ptr<Epoch> current_;                    // closed and empty while no epoch runs
  std::string leader_;
};

}  // namespace koord::manager
