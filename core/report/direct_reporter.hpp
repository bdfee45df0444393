// SPDX-License-Identifier: Apache-2.0
// DirectReporter: sends this node's NodeMetric every few seconds to the leading koord-manager, over one TLS connection
// with the agent's token. It finds the leader by reading its Lease from the API server. A failed report is not sent
// again; the next report has newer values. After a failure the Lease is read again, and waits grow up to a minute. If
// the manager is missing, hangs or sends an invalid response, the agent has only one request open, with limited time
// and size. [loop thread] except where marked.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "core/base/backoff.hpp"
#include "core/base/problem_tracker.hpp"
#include "core/event/loop.hpp"
#include "core/event/strand.hpp"
#include "core/event/worker_pool.hpp"
#include "core/kube/client.hpp"
#include "core/kube/leader.hpp"
#include "core/report/direct_report.hpp"

namespace koord::report {

struct DirectOptions {
  std::string node_name;
  Duration period = std::chrono::seconds(5);
  kube::LeasePlace lease = {"koordetector", "koord-manager"};
  std::string address = {};      // address of the manager, instead of the Lease: "10.0.0.7:8443"
  std::string server_name = {};  // name in the manager's certificate; empty: NAME.NAMESPACE.svc of the Lease
  std::string ca_file = {};      // CAs for that certificate; empty: the CAs of the API server
};

class DirectReporter {
 public:
  struct Parts {
    event::Loop& loop;
    event::WorkerPool& workers;
    const Clock& clock;
    kube::Client& api;
    std::function<DirectReport()> compute;  // [worker]
  };

  // The state for people and metrics.
  struct View {
    std::string manager;  // the address in use; empty: none
    std::string problem;  // problem of the last attempt; empty: success
    std::optional<Time> accepted;
    std::uint64_t whole = 0, unchanged = 0;  // accepted reports; unchanged: only the time was sent
    std::uint64_t refused = 0;               // responses with an error status
    std::uint64_t failed = 0;                // no response or an invalid one
    std::uint64_t unfit = 0;                 // periods without a report: the node's usage or pods were unknown
    std::uint64_t lookups = 0;               // reads of the Lease
    std::uint64_t bytes = 0;                 // size of all bodies
  };

  // The manager's report of this node is current if it accepted one within this many periods.
  static constexpr int kPeriodsFresh = 3;
  static constexpr std::size_t kMostAnswerBytes = 64u << 10;

  DirectReporter(Parts parts, DirectOptions options);
  ~DirectReporter();

  void start();
  void stop();

  View view() const;      // [any]
  bool is_fresh() const;  // [any] the manager's report is current
  bool is_busy() const { return is_computing_ || pending_ != nullptr; }

 private:
  struct Ready;  // the result of one computation

  void step_in(Duration wait);
  Duration pace() const;
  void step();
  void find_leader();
  void take_lease(Result<kube::Reply> reply);
  Result<std::string> leader_of(const kube::Reply& reply) const;
  void connect(const std::string& address);
  void compute();
  void send(const std::shared_ptr<const Ready>& ready);
  void take_answer(const std::shared_ptr<const Ready>& ready, Result<kube::Reply> reply);
  void accept(const Ready& ready);
  void fail(std::string problem, std::optional<Duration> retry_after = {});
  Duration wait_after_failure(std::optional<Duration> retry_after);
  kube::ConnectionConfig manager_config(const kube::HostAndPort& place) const;
  void note(const std::string& problem);

  const Parts parts_;
  const DirectOptions options_;
  Backoff backoff_;
  std::optional<Time> failing_since_;
  std::unique_ptr<event::Timer> timer_;
  std::unique_ptr<kube::Client> manager_;
  std::string address_;        // address of manager_
  bool knows_leader_ = false;  // false: the Lease is read before the next report
  bool is_computing_ = false;
  bool was_accepted_ = false;   // a report was accepted
  Time begun_{};                // start of the current report
  AcceptedReportPtr accepted_;  // null: the manager has no report
  ProblemTracker problems_;
  kube::Client::PendingPtr pending_;  // must be destroyed before manager_
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);

  mutable std::mutex mutex_;  // protects view_
  View view_;

  event::Strand strand_;  // last member: is destroyed first
};

}  // namespace koord::report
