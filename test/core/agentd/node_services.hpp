// SPDX-License-Identifier: Apache-2.0
// NodeServices: the services of an agent on a fake node with cgroup v2, without a cluster and without plugins.
#pragma once

#include <initializer_list>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "core/agentd/services.hpp"
#include "core/base/manual_clock.hpp"
#include "test/support/fake_node.hpp"

namespace koord::agentd {

struct NodeServices {
  using Plugins = std::vector<host::PluginStatus> (*)();

  explicit NodeServices(
      std::initializer_list<std::pair<std::string_view, std::string_view>> files = {},
      Plugins plugins = [] { return std::vector<host::PluginStatus>(); })
      : running(plugins) {
    for (const auto& [path, content] : files) tree.write(path, content);
  }

  test::FakeNode tree{{"cgroup/cgroup.controllers", "cpu\n"}};
  ManualClock clock;
  state::Hub hub;
  service::EventLog events;
  knob::MemoryOriginals originals;
  knob::Governor governor{clock, *cgroup::Layout::detect(tree.roots()), tree.roots(), originals};
  event::Loop loop;
  event::WorkerPool workers{1};
  std::unique_ptr<store::Store> store = *store::Store::open({}, clock);
  const cgroup::Layout layout = *cgroup::Layout::detect(tree.roots());
  service::CapabilityBoard capabilities;
  service::RefusalLog refusals;
  verdict::Store verdicts;
  metric::HostMetrics metrics{"test-node"};
  Plugins running;
  kube::Client* api = nullptr;
  const Services services{.loop = loop,
                          .workers = workers,
                          .clock = clock,
                          .store = *store,
                          .hub = hub,
                          .layout = layout,
                          .capabilities = capabilities,
                          .events = events,
                          .refusals = refusals,
                          .verdicts = verdicts,
                          .metrics = metrics,
                          .governor = governor,
                          .client = [this] { return api; },
                          .plugins = [this] { return running(); }};
};

}  // namespace koord::agentd
