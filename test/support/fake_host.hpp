// SPDX-License-Identifier: Apache-2.0
// FakeHost: the host's real services, in this process, with a fake node and a clock that the test moves. The test reads
// the samples of a plugin by metric and labels. FakeInstance runs one class of a plugin on it:
//
//   FakeNode node({{"proc/stat", "cpu 1 2 3 4\n"}});
//   FakeHost host(node);
//   FakeInstance advisor(host, koord_entry_v1());
//   REQUIRE(advisor.init() == KOORD_OK);
//   advisor.collect();
//   CHECK(host.value("node_cpu_usage_cores") == 1.5);
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/base/manual_clock.hpp"
#include "core/host/hook_response.hpp"
#include "core/knob/plan_sink.hpp"
#include "core/workshop/memory_host.hpp"
#include "koordetector/plugin.h"
#include "test/support/fake_node.hpp"

namespace koord::test {

// Holds the clock. As the first base class it is made before the host that uses it, and destroyed after it.
struct MovedClock {
  ManualClock clock_;
};

class FakeHost : private MovedClock, public workshop::MemoryHost {
 public:
  explicit FakeHost(const FakeNode& node, std::string config_json = "{}")
      : FakeHost(node.roots(), std::move(config_json)) {}
  // Uses any trees, for example this machine's trees.
  explicit FakeHost(const NodeRoots& roots, std::string config_json = "{}");
  ~FakeHost();

  ManualClock& clock() { return clock_; }

  // The context of the plugin "test", which is granted all capabilities.
  service::PluginContext& context() { return *context_; }
  const koord_host* abi() const { return context_->host(); }
  template <class Table>
  const Table* service(const char* id) const {
    return static_cast<const Table*>(abi()->get_service(abi(), id));
  }
  std::string last_error();

  // A report through koord.audit/1. Reports are in order of time.
  struct Report {
    metric::Labels subject;  // empty: the node
    std::string what, why;
  };
  std::vector<Report> events() const;

 private:
  std::unique_ptr<service::PluginContext> context_;
};

// One class of a plugin, from create() to destroy(). Calls return the plugin's status. After a call why() returns its
// text.
class FakeInstance {
 public:
  FakeInstance(FakeHost& host, const koord_module* module, std::uint32_t class_index = 0);
  // Loads a shared object, which stays mapped.
  FakeInstance(FakeHost& host, const std::string& shared_object, std::uint32_t class_index = 0);
  // The same, but as the plugin of this context instead of "test".
  FakeInstance(FakeHost& host, service::PluginContext& context, const std::string& shared_object);
  ~FakeInstance();
  FakeInstance(const FakeInstance&) = delete;
  FakeInstance& operator=(const FakeInstance&) = delete;

  koord_status init();
  koord_status collect();   // calls an advisor at the clock's time
  koord_status evaluate();  // calls a strategy; after it host.context().take_plan() returns the plan
  // Only for a strategy. Passes the results of its intents, as the host does. Skips a strategy without on_applied().
  koord_status on_applied(const std::vector<knob::IntentResult>& results);
  // Asks a runtime hook about a pod or one of its containers. Fails the test if the status is not KOORD_OK. `cri_json`:
  // the request of the container runtime, for a CRI hook.
  host::HookSettings handle(const state::Pod& pod, const state::Container* container = nullptr,
                            const std::string& node_slo = {}, const std::string& cri_json = {});
  koord_status on_event(std::uint32_t what, std::uint64_t version = 1);
  koord_status stop();

  const std::string& why() const { return why_; }

 private:
  FakeInstance(FakeHost& host, service::PluginContext& context, const koord_module* module, std::uint32_t class_index);
  template <class Call>
  koord_status call(Call&& call);
  std::string last_error();

  FakeHost& host_;
  service::PluginContext& context_;
  const koord_class* class_;
  void* self_ = nullptr;
  std::string why_;
};

}  // namespace koord::test
