// SPDX-License-Identifier: Apache-2.0
// NodeMetricReporter: keeps the status of this node's NodeMetric up to date. Every ten seconds it computes the report
// on a worker, and writes it when the Delivery allows. The object's annotation koordetector.sh/degraded names missing
// or old values. Without a client it only computes. [loop thread] except where marked.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "core/base/problem_tracker.hpp"
#include "core/event/worker_pool.hpp"
#include "core/report/node_metric.hpp"
#include "core/report/periodic_task.hpp"
#include "core/report/publisher.hpp"
#include "core/report/reported.hpp"
#include "core/report/written_object.hpp"
#include "core/state/hub.hpp"

namespace koord::report {

struct NodeMetricOptions {
  std::string node_name;
  bool create = false;  // creates the object if missing
  Duration period = std::chrono::seconds(10);
  Duration heartbeat = std::chrono::minutes(1);
  double change_percent = 5;
  PodTolerance tolerance = {};
};

class NodeMetricReporter {
 public:
  struct Parts {
    event::Loop& loop;
    event::WorkerPool& workers;
    const store::Store& cache;
    const state::Hub& hub;
    const Clock& clock;
    kube::Client* client = nullptr;                                                // null: nothing is written
    std::function<Prediction()> predict = {};                                      // [worker] may be empty
    std::function<std::map<std::string, bool, std::less<>>()> device_health = {};  // [worker] by uuid; may be empty
    // Returns whether koord-manager has this node's report and writes the object itself; empty: it does not.
    std::function<bool()> is_replaced = {};
  };

  // The state for people and metrics.
  struct View {
    NodeMetricReport report;
    std::optional<Time> computed;  // time of `report`; nullopt: not computed so far
    std::vector<std::string> spec_problems;
    Account account;
    bool writes = false;    // has a client
    bool exists = false;    // the object exists, as far as known
    bool missing = false;   // the object is missing and the agent does not create it, so nothing is reported
    bool replaced = false;  // koord-manager writes the object
  };

  NodeMetricReporter(Parts parts, NodeMetricOptions options);
  ~NodeMetricReporter();

  void start() { periodic_task_.start(); }
  void stop();
  // Starts an additional poll now.
  void poll() { periodic_task_.poll(); }
  // Returns whether a poll or a request is running.
  bool busy() const { return periodic_task_.is_polling() || (publisher_ && publisher_->is_writing()); }

  View view() const;  // [any]
  // [any] Computes the current report. `window`: the window of the averages and the maximum age of samples, instead of
  // the spec's values.
  NodeMetricReport compute(std::optional<Duration> window = std::nullopt) const;

 private:
  struct PollResult;  // the result of one poll
  struct Known;       // the API server's object, as far as known

  PollResult make_result();
  void decide(const PollResult& poll);
  void schedule_heartbeat();
  bool leaves_to_manager(const PollResult& poll);
  void begin_delivery(const PollResult& poll);
  void report_absence(const PollResult& poll);
  void write(const PollResult& poll);
  void write_status(const PollResult& poll);

  const Parts parts_;
  const NodeMetricOptions options_;
  std::unique_ptr<Publisher> publisher_;
  std::unique_ptr<event::Timer> heartbeat_;  // timer for a heartbeat between two polls
  bool is_replaced_ = false;
  ProblemTracker absence_{std::chrono::minutes(30)}, degradation_;

  WrittenObject written_;
  std::unique_ptr<Known> known_;  // [worker]

  mutable std::mutex mutex_;  // protects view_
  View view_;

  PeriodicTask periodic_task_;  // last member: is destroyed first
};

}  // namespace koord::report
