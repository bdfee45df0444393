// SPDX-License-Identifier: Apache-2.0
// ServedMetrics: the NodeMetrics that this replica serves while it leads. Each time that it begins to lead is an epoch
// with an empty store, which the next reports fill. A replica that does not lead refuses all and names the leader.
// Functions are [loop thread] unless marked.
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
    std::string agent_user = {};               // see aggregated::ApiOptions
    Duration fill = std::chrono::seconds(15);  // reads are served so long after the begin of an epoch, or earlier
    Duration keep_unknown = std::chrono::minutes(1);                     // objects of nodes that do not exist
    std::function<void(const aggregated::PlainObject&)> on_report = {};  // [any]
    aggregated::CompleteStatus complete_status = {};                     // [any]
  };

  // Loop and clock must outlive it and its answers.
  ServedMetrics(Parts parts, Options options);
  ~ServedMetrics();

  // Versions of the epoch are greater than `first` and at most `most`.
  void begin(aggregated::Version first, aggregated::Version most);
  void reserve(aggregated::Version most);
  // Returns the newest version of the epoch; nullopt: none ran.
  std::optional<aggregated::Version> end();
  std::optional<aggregated::Version> newest() const;  // nullopt: no epoch runs

  // To be called from time to time. Begins to serve reads once all `nodes` have reported, or Options::fill has passed;
  // removes objects of nodes that do not exist. `nodes`: of the cluster; empty: unknown.
  void check(const std::vector<std::string>& nodes);
  bool is_filling() const;

  aggregated::ObjectPtr find(const std::string& name) const;  // null: without one
  // Writes the status of an object itself: no report, but an event for watches. `raced`: another write came between, or
  // this replica does not lead.
  aggregated::Store::Put put_status(const aggregated::ObjectPtr& current, std::string status);

  // The leader's address, for the answers of a replica that does not lead; empty: unknown.
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
  bool is_running_ = false;  // an epoch
  Time serves_at_{};
  std::map<std::string, Time, std::less<>> unknown_;  // objects of nodes that do not exist, and since when
  mutable std::mutex mutex_;                          // of what follows
  std::shared_ptr<Epoch> current_;                    // closed and empty while no epoch runs
  std::string leader_;
};

}  // namespace koord::manager
