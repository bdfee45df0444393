// SPDX-License-Identifier: Apache-2.0
// ChildMonitor: the thread that monitors one child: answers its requests, turns its output into log lines, fetches its
// samples, and records its exit. Made before create(), joined before the plugin's context goes.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "core/base/unique_fd.hpp"
#include "core/child/cpu_bucket.hpp"
#include "core/child/process.hpp"
#include "core/child/service_dispatcher.hpp"
#include "core/host/runner.hpp"

namespace koord::child {

class ChildMonitor {
 public:
  // `cpu_millis`: of cores that the agent may spend on its requests; 0: no limit.
  ChildMonitor(Process& process, service::PluginContext& context, SnapshotImages& images, std::uint64_t cpu_millis,
               std::function<void(const std::string& reason)> on_end);
  ~ChildMonitor();  // ends the child, if it has not ended, and waits for the thread
  ChildMonitor(const ChildMonitor&) = delete;
  ChildMonitor& operator=(const ChildMonitor&) = delete;

  // Moves the ring's content into the registry. [any thread]
  void fetch_samples();

  // Ends the child: SIGTERM, and SIGKILL after `grace`; does not wait for that. The reason is what how_it_ended()
  // begins with. [any thread]
  void end(const std::string& reason, Duration grace);

  // Ends the child without a report: the host has requested it. [any thread]
  void dismiss();
  // Why the child ended; waits for the reason a moment, since a closed channel is seen before the end. [any thread]
  std::string how_it_ended();

  // Returns the result of run() in the child; nullopt if the child ended before. Waits.
  std::optional<service::CallResult> await_run();

 private:
  using Steady = std::chrono::steady_clock;

  void monitor();
  void account(Steady::time_point now);
  void notice_cost(Steady::time_point now);
  Duration pause();
  int until_next_step();
  bool take_next_step(bool& killed);
  void forget_wake();
  bool serve_request();
  void keep_order(Service service);
  bool serve(Service service, Unpacker& request);
  void read_output();
  void log_output_line(std::string_view line);
  void conclude();

  Process& process_;
  service::PluginContext& context_;
  ServiceDispatcher dispatcher_;
  std::function<void(const std::string& reason)> on_end_;
  UniqueFd wake_;
  std::string output_line_;
  bool output_open_ = true;
  const std::uint64_t cpu_millis_;
  CpuBucket bucket_;
  Steady::time_point accounted_;  // when, and what was spent by then
  Duration own_cpu_{}, spent_{};
  Steady::time_point window_begin_;  // of kNoticeWindow, and what was spent by then
  Duration window_spent_{};
  std::mutex fetching_;

  std::mutex mutex_;  // of what follows
  std::condition_variable changed_;
  std::string wanted_because_;                   // its end
  std::optional<Steady::time_point> next_step_;  // of ending it: SIGKILL, then giving it up
  std::optional<std::string> ended_;
  std::optional<service::CallResult> run_result_;

  std::thread thread_;
};

}  // namespace koord::child
