// SPDX-License-Identifier: Apache-2.0
// Runs test plugins with the real services on a fake node and real threads. Stage runs single instances, HostStage the
// whole plugin manager with its loop.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "core/config/config.hpp"
#include "core/event/loop.hpp"
#include "core/event/worker_pool.hpp"
#include "core/host/instance.hpp"
#include "core/host/plugin_manager.hpp"
#include "core/knob/governor.hpp"
#include "core/metric/host_metrics.hpp"
#include "puppet.hpp"
#include "test/core/load/plugin_shelf.hpp"
#include "test/support/fake_host.hpp"
#include "test/support/fake_node.hpp"

namespace koord::test {

// Waits for a condition, which each notify() checks again. After a time limit await() returns false, so the test fails.
class ChangeSignal {
 public:
  void notify() {
    std::lock_guard lock(mutex_);
    notified_.notify_all();
  }
  bool await(const std::function<bool()>& condition) {
    const auto end = std::chrono::steady_clock::now() + kLongEnough;
    std::unique_lock lock(mutex_);
    while (!condition()) {
      if (std::chrono::steady_clock::now() > end) return false;
      // a change that is reverted immediately may notify only once
      notified_.wait_for(lock, std::chrono::milliseconds(10));
    }
    return true;
  }

 private:
  std::mutex mutex_;
  std::condition_variable notified_;
};

// One instance of a plugin, without ticks and restarts.
class Stage {
 public:
  explicit Stage(const std::string& plugin, host::InstanceSettings settings = {});
  ~Stage();

  FakeHost& host() { return *host_; }
  Puppet& puppet() { return puppet_; }
  host::Instance& instance() { return *instance_; }
  knob::Governor& governor() { return *governor_; }

  bool await(host::PluginState state);
  bool await(const std::function<bool(const host::InstanceStatus&)>& condition);
  // Starts the instance and waits until it runs.
  bool run();
  // Stops the instance and waits until it has stopped.
  bool stop();
  // Ticks the instance once and waits until the tick has ended.
  bool tick();
  // Sets a function that is called on the thread of each change. Must be set before the instance is started.
  void on_change(std::function<void(host::PluginState)> f) { *on_change_ = std::move(f); }

 private:
  PluginShelf shelf_;
  FakeNode node_;
  std::unique_ptr<FakeHost> host_;
  Puppet puppet_;
  knob::MemoryOriginals originals_;
  std::unique_ptr<knob::Governor> governor_;
  // Shared, because the watchdog call of a wedged instance keeps it.
  std::shared_ptr<ChangeSignal> signal_ = std::make_shared<ChangeSignal>();
  std::shared_ptr<std::function<void(host::PluginState)>> on_change_ =
      std::make_shared<std::function<void(host::PluginState)>>([](host::PluginState) {});
  event::WorkerPool pool_{2};
  std::shared_ptr<host::Instance> instance_;
};

// Stores the requests of strategies.
class RequestBox final : public evict::RequestSink {
 public:
  void take(const decision::Proposer& proposer, std::vector<evict::Request> requests) override {
    std::lock_guard lock(mutex_);
    newest_[proposer.plugin] = std::move(requests);
  }
  std::vector<evict::Request> newest(const std::string& plugin) const {
    std::lock_guard lock(mutex_);
    auto found = newest_.find(plugin);
    return found == newest_.end() ? std::vector<evict::Request>() : found->second;
  }

 private:
  mutable std::mutex mutex_;
  std::map<std::string, std::vector<evict::Request>> newest_;
};

// The plugin manager, on a loop in its own thread. Without children, the shelf is the directory of the agent's own
// plugins. With children, its files are third-party plugins.
class HostStage {
 public:
  explicit HostStage(std::initializer_list<std::string_view> plugins, std::size_t workers = 2,
                     host::Loader load_in_child = {});
  ~HostStage();

  PluginShelf& shelf() { return shelf_; }
  FakeNode& host_node() { return node_; }
  FakeHost& host() { return host_; }
  metric::HostMetrics& metrics() { return metrics_; }
  // The files of knobs, in a separate cgroup v2 tree with "be" and "be/pod", which have the knobs of the CPU.
  FakeNode& knobs() { return knobs_; }
  knob::Governor& governor() { return governor_; }
  RequestBox& evictions() { return evictions_; }
  host::PluginManager& manager() { return *manager_; }
  config::PluginsSettings& settings() { return settings_; }

  // Reads the shelf and applies these gates.
  void apply(std::string_view gates);
  // Replaces the running plugin with this id by the shelf's file, with these gates. Waits for the result.
  Result<void> replace(const std::string& id, std::string_view gates);
  host::PluginStatus status(std::string_view id);
  // Waits until the plugin is in this state. Returns false after a long time limit.
  bool await(std::string_view id, host::PluginState state);
  bool stop(Duration grace = std::chrono::seconds(5));

 private:
  void in_loop(const std::function<void()>& task);

  PluginShelf shelf_;
  FakeNode node_;
  FakeHost host_;
  metric::HostMetrics metrics_;
  FakeNode knobs_{{"cgroup/cgroup.controllers", "cpu\n"},
                  {"cgroup/be/cpu.max", "50000 100000\n"},
                  {"cgroup/be/pod/cpu.max", "50000 100000\n"}};
  knob::MemoryOriginals originals_;
  knob::Governor governor_;
  RequestBox evictions_;
  config::PluginsSettings settings_;
  ChangeSignal signal_;
  event::Loop loop_;
  event::WorkerPool pool_;
  std::unique_ptr<host::PluginManager> manager_;
  std::thread thread_;
};

}  // namespace koord::test
