// SPDX-License-Identifier: Apache-2.0
// EvictionModule: evictions in the agent. core/evict decides on the requests of strategies, and executes them once a
// client of the API server exists. Results are reported in the log, capabilities, events, /metrics and decision
// records. Functions are [loop thread] unless marked.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/agentd/services.hpp"
#include "core/config/config.hpp"
#include "core/evict/api_evictor.hpp"
#include "core/evict/evictions.hpp"

namespace koord::agentd {

class EvictionModule final : public evict::RequestSink {
 public:
  // The services must outlive this object.
  EvictionModule(const Services& services, const config::Config& config);
  ~EvictionModule() override;

  void start();
  // Stops evictions. After that, the client may be destroyed, and requests are refused.
  void stop();

  void take(const decision::Proposer& proposer, std::vector<evict::Request> requests) override;  // [any]

  // Returns the number of pods that were evicted since the start. [any]
  std::uint64_t done() const { return done_; }

 private:
  struct Alive {};

  evict::Evictions::Parts eviction_parts();
  void later(std::function<void()> task);  // [any] runs the task on the loop, unless this object is destroyed
  void remember();
  void ask(const evict::Order& order);
  void report_outcome(const evict::Outcome& outcome);
  void log_held_back(const evict::Outcome& outcome);
  void report_brake(Time until, const std::string& brake_why);
  void poll();
  void report_capability();
  void export_metrics();

  const Services& services_;
  const config::Config config_;
  const std::shared_ptr<Alive> alive_ = std::make_shared<Alive>();
  const std::shared_ptr<evict::Evictions> evictions_;  // shared: workers bring answers
  std::unique_ptr<event::Timer> poll_timer_;
  std::unique_ptr<evict::ApiEvictor> api_;
  std::atomic<std::uint64_t> done_ = 0;
  bool is_braked_ = false;  // whether the brake was on at the last poll
};

}  // namespace koord::agentd
