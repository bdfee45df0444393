// SPDX-License-Identifier: Apache-2.0
// CalledInstance: one instance of a class of the plugin, called as a host calls it. The trial records exits of the
// plugin other than by a status. One thread at a time; run() has its own.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "core/host/runner.hpp"
#include "core/host/stop_signal.hpp"
#include "core/load/module.hpp"
#include "core/workshop/check/lent_memory.hpp"
#include "core/workshop/check/plugin_trial.hpp"

namespace koord::check {

class CalledInstance {
 public:
  CalledInstance(PluginTrial& trial, const load::Module& module, std::size_t class_index, WatchedHost& host);
  // Ends a plugin that has not ended: without this it would leak.
  ~CalledInstance();
  CalledInstance(const CalledInstance&) = delete;
  CalledInstance& operator=(const CalledInstance&) = delete;

  koord_status create();
  koord_status init();
  // The main call of this kind, once, a period later: collect, evaluate, url and its samples, handle for each stage.
  koord_status tick();
  // The same, at a time of its own.
  koord_status tick_at(std::uint64_t now_ns);
  koord_status on_event(std::uint32_t what);
  void start_run();
  // stop(), the signal, and whether run() returned within the 5 s that plugin.h gives it. Once.
  bool stop();
  // `end_host`: false keeps the host for another instance.
  void destroy(bool end_host = true);

  const load::ClassInfo& info() const { return info_; }
  WatchedHost& host() { return host_; }
  void* self() const { return self_; }
  // "collect(): KOORD_E_IO: text", of the last call that was no success.
  const std::string& last_failure() const { return last_failure_; }

 private:
  template <class F>
  koord_status call(std::string_view name, F&& function);
  koord_status evaluate(std::uint64_t now_ns);
  koord_status ask_targets();
  koord_status scrape();
  koord_status handle_all();
  LentMemory& renew_lent_memory();

  PluginTrial& trial_;
  const koord_class& class_;
  const load::ClassInfo& info_;
  WatchedHost& host_;
  void* self_ = nullptr;
  std::string last_failure_;
  std::unique_ptr<LentMemory> lent_;

  host::StopSignal signal_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool running_ = false;
  std::thread run_thread_;
};

}  // namespace koord::check
