// SPDX-License-Identifier: Apache-2.0
// Objects owned by one session of an instance, from create() to destroy(). Private to the instance.
#pragma once

#include <pthread.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <ctime>
#include <functional>
#include <memory>
#include <string_view>
#include <thread>
#include <vector>

#include "core/host/instance.hpp"
#include "core/host/runner.hpp"
#include "core/host/stop_signal.hpp"
#include "core/scrape/scraped_definitions.hpp"
#include "core/service/plugin_context.hpp"

namespace koord::host {

struct Instance::Session : std::enable_shared_from_this<Session> {
  const std::uint64_t number = next_number();  // unique in this process
  std::unique_ptr<service::PluginContext> context;
  std::shared_ptr<service::ServiceMeter>
      meter;  // the context's, set by begin(); on the strand, or with the instance's lock held
  std::function<void(std::string_view why)> close_verdicts;  // likewise
  const koord_host* host = nullptr;                          // the context's
  std::unique_ptr<Runner> runner;                            // uses the context
  StopSignal stop;

  // For an external advisor; on the strand.
  std::unique_ptr<scrape::ScrapedDefinitions> definitions;
  std::vector<std::shared_ptr<scrape::TargetScrape>> targets;  // use the definitions
  Result<void> asked = invalid("it was not asked yet");
  Duration scrape_calls_cpu{};                      // of the strand so far, in calls for scrapes
  Duration unpaid_cpu{};                            // of scrapes, not yet in paid_at
  std::chrono::steady_clock::time_point paid_at{};  // when its limit allows what was spent

  // With the instance's lock held.
  std::thread run_thread;         // for run()
  bool runs = false;              // run() has not returned
  bool run_awaited = false;       // when it has, the session is finished
  bool is_process_ended = false;  // because it did not end by itself after the stop

  static std::uint64_t next_number() {
    static std::atomic<std::uint64_t> last = 0;
    return ++last;
  }

  // CPU time of run() so far.
  Duration run_cpu() {
    clockid_t clock;
    timespec t;
    if (!runs || pthread_getcpuclockid(run_thread.native_handle(), &clock) != 0 || clock_gettime(clock, &t) != 0)
      return {};
    return Duration(t.tv_sec * 1'000'000'000ll + t.tv_nsec);
  }
};

template <class F>
service::CallResult Instance::call(Session& session, const char* name, F&& f) {
  {
    std::lock_guard lock(mutex_);
    record_.began(name);
  }
  service::CallResult result = f();
  {
    std::lock_guard lock(mutex_);
    record_.ended(name, result);
  }
  if (result.lost) end(session, {PluginState::failed, std::string(name) + "(): " + result.text});
  return result;
}

}  // namespace koord::host
