// SPDX-License-Identifier: Apache-2.0
// WatchedHost: the host of one instance in a trial. Calls go on to the real services of a host in memory, after the
// fault injection of the trial, and misuse is recorded. It outlives the instance, so that a late call is recorded and
// does not crash. [any thread]
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/service/plugin_context.hpp"
#include "core/workshop/check/fault_injection.hpp"
#include "koordetector/plugin.h"

namespace koord::check {

class WatchedHost {
 public:
  // `faults` and `seen` outlive everything.
  WatchedHost(std::unique_ptr<service::PluginContext> real, const FaultInjection& faults, Seen& seen);
  WatchedHost(const WatchedHost&) = delete;
  WatchedHost& operator=(const WatchedHost&) = delete;

  const koord_host* abi() const { return &host_; }
  service::PluginContext& real() { return *real_; }
  Seen& seen() { return seen_; }
  const FaultInjection& faults() const { return faults_; }

  // destroy() has returned.
  void end();
  std::size_t snapshots_held() const { return held_.load(); }

  // A call of the plugin on this thread, from its beginning to its end.
  class Call {
   public:
    Call(WatchedHost& host, std::string_view name);
    ~Call();
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;

   private:
    WatchedHost* outer_host_;
    std::string_view outer_name_;
  };

  // ---- for the services ----
  static WatchedHost& of(const koord_host* host) { return *static_cast<WatchedHost*>(host->impl); }
  // Records errors of this call; returns the host to go on with, or nullptr: it does not exist any more.
  const koord_host* admit(std::string_view service_call);
  // The answer of a service that can fail, when the trial wants another than the real one.
  std::optional<koord_status> answer() const { return faults_.answer; }
  // By how much the answer is reported to be longer than the buffer; 0: leave it as it is.
  std::uint64_t lengthen();
  void hold_snapshot(int change) { held_ += static_cast<std::size_t>(change); }

 private:
  static const void* get_service(const koord_host* host, const char* id);
  static void log(const koord_host* host, std::int32_t level, koord_str message);
  static void set_error(const koord_host* host, koord_status status, koord_str why);

  std::unique_ptr<service::PluginContext> real_;
  const FaultInjection& faults_;
  Seen& seen_;
  koord_host host_;
  std::atomic<bool> ended_ = false;
  std::atomic<std::size_t> held_ = 0;
  std::atomic<unsigned> lengthened_ = 0;
};

// The table that a plugin gets for the service with this id; nullptr: none such is watched.
const void* watched_table(std::string_view id, const FaultInjection& faults);

}  // namespace koord::check
