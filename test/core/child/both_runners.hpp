// SPDX-License-Identifier: Apache-2.0
// Two hosts on one node, for tests that make the same calls of services as a plugin in the agent and as one in a child. The
// calls to one host go through a channel, as a child's do.
#pragma once

#include <doctest/doctest.h>

#include <functional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "core/child/channel.hpp"
#include "core/child/host_proxy.hpp"
#include "core/child/service_dispatcher.hpp"
#include "core/load/grants.hpp"
#include "core/service/services.hpp"
#include "koordetector/plugin.hpp"
#include "test/support/fake_host.hpp"
#include "test/support/fake_node.hpp"

namespace koord::test {

using koord::plugin::str;

inline constexpr const char* kPod = "kubepods.slice/kubepods-pod1.slice";

struct Trees {
  FakeNode node{{{"proc/stat", "cpu 1 2\n"},
                       {"proc/1/io", "rchar: 1\n"},
                       {"cgroup/cgroup.controllers", "cpu memory cpuset\n"},
                       {"cgroup/kubepods.slice/kubepods-pod1.slice/cpu.max", "20000 100000\n"},
                       {"cgroup/kubepods.slice/kubepods-pod1.slice/cpu.stat", "usage_usec 1\nnr_periods 2\nnr_throttled 3\n"}}};
};

// A host and a third party's plugin of it.
struct OneHost {
  FakeHost host;
  host::PluginContext context{host.services(), "com.acme.x", workshop::all_services(), R"({"a": {"b": 7}, "text": "hello", "on": true, "f": 1.5})",
                              host::Rights{.host_plugin = false, .files = {}, .cgroups = {}}};

  explicit OneHost(const FakeNode& node) : host(node) {
    state::Pod pod;
    pod.uid = "1";
    pod.cgroup_dir = kPod;
    host.hub().publish({.pods = std::vector{pod}});
  }
};

// The far end of a channel, as a child monitor serves it.
class Far {
 public:
  explicit Far(OneHost& one) : dispatcher_(one.context, images_) {}

  child::HostProxy& remote() { return *remote_; }

  ~Far() {
    stop_ = true;
    thread_.join();
  }

 private:
  void serve() {
    while (!stop_) {
      auto message = here_.receive(std::chrono::milliseconds(20));
      if (!message || !*message) continue;
      while (auto batch = *ring_.pop()) dispatcher_.append(batch->t_ns, batch->points);
      child::Unpacker request((*message)->bytes);
      const auto service = static_cast<child::Service>(request.number<std::uint32_t>());
      if (service == child::Service::log || service == child::Service::samples_waiting) continue;
      auto answer = dispatcher_.serve(service, request);
      if (answer && !answer->bytes.empty()) REQUIRE(here_.send(answer->bytes, answer->image ? answer->image->fd.get() : -1));
    }
  }

  child::SnapshotImages images_;
  child::ServiceDispatcher dispatcher_;
  std::pair<child::Channel, child::Channel> ends_ = *child::Channel::pair();
  child::Channel& here_ = ends_.first;
  child::SampleRing ring_ = *child::SampleRing::make();
  std::unique_ptr<child::HostProxy> remote_ = std::make_unique<child::HostProxy>(
      "com.acme.x", std::move(ends_.second), *child::SampleRing::attach(UniqueFd(::dup(ring_.fd()))));
  std::atomic<bool> stop_ = false;
  std::thread thread_{[this] {
    here_.guard();
    serve();
  }};
};

// The tables of one side.
struct Side {
  const koord_host* host;
  host::PluginSide& plugin;

  template <class Table>
  const Table& table(const char* id) const {
    const void* found = host->get_service(host, id);
    REQUIRE(found);
    return *static_cast<const Table*>(found);
  }
  const koord_svc_metrics& metrics() const { return table<koord_svc_metrics>("koord.metrics/1"); }
  const koord_svc_kv& kv() const { return table<koord_svc_kv>("koord.kv/1"); }
  const koord_svc_config& config() const { return table<koord_svc_config>("koord.config/1"); }
  const koord_svc_fs& fs() const { return table<koord_svc_fs>("koord.fs/1"); }
  const koord_svc_cgroup& cgroup() const { return table<koord_svc_cgroup>("koord.cgroup/1"); }
  const koord_svc_knobs& knobs() const { return table<koord_svc_knobs>("koord.knobs/1"); }
  const koord_svc_audit& audit() const { return table<koord_svc_audit>("koord.audit/1"); }
  const koord_svc_capabilities& capabilities() const { return table<koord_svc_capabilities>("koord.capabilities/1"); }
  const koord_svc_evict& evict() const { return table<koord_svc_evict>("koord.evict/1"); }
  const koord_svc_state& state() const { return table<koord_svc_state>("koord.state/1"); }
  const koord_svc_clock& clock() const { return table<koord_svc_clock>("koord.clock/1"); }
};

struct Row {
  const char* name;
  std::function<koord_status(const Side&)> call;
  koord_status expected;
};

inline const std::string kLong(5000, 'x'), kHuge((1 << 20) + 1, 'x');

inline std::string told(host::PluginSide& plugin) {
  const auto error = plugin.take_error();
  return error ? error->text : "";
}

// Makes the call of each row in both runners.
inline void check_in_both_runners(std::span<const Row> rows) {
  const Trees trees;
  OneHost near_host(trees.node), far_host(trees.node);
  Far far(far_host);
  const std::set<std::string> all = workshop::all_services();
  far.remote().grant({all.begin(), all.end()});
  const Side near_side{near_host.context.host(), near_host.context}, far_side{far.remote().host(), far.remote()};
  for (const Row& row : rows) {
    CAPTURE(row.name);
    told(near_host.context), told(far.remote());
    const koord_status near_status = row.call(near_side);
    const std::string near_text = told(near_host.context);
    const koord_status far_status = row.call(far_side);
    const std::string far_text = told(far.remote());
    CHECK(near_status == row.expected);
    CHECK(far_status == near_status);
    CHECK(far_text == near_text);
  }
}

}  // namespace koord::test
