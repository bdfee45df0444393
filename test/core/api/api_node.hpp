// SPDX-License-Identifier: Apache-2.0
// ApiNode: the data sources of the data API on a fake node with the pods shop/cart and batch/etl, without an agent.
#pragma once

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/api/api.hpp"
#include "core/base/manual_clock.hpp"
#include "test/support/fake_node.hpp"

namespace koord::test {

class ApiNode {
 public:
  explicit ApiNode(store::Options options = {}) : store(*store::Store::open(std::move(options), clock)) {
    state::Pod cart = pod("u1", "shop", "cart"), etl = pod("u2", "batch", "etl");
    cart.containers[0].name = "app";
    cart.containers[0].id = "containerd://c1";
    etl.containers[0].name = "main";
    etl.containers[0].id = "containerd://c2";
    std::vector<state::Pod> pods;
    pods.push_back(std::move(cart));
    pods.push_back(std::move(etl));
    hub.publish({.pods = std::move(pods)});
    hub.confirm(state::kPods, clock.now());
  }

  http::Response get(http::Response (*answer)(const api::ApiSources&, const http::Request&), const std::string& query) {
    http::Request request;
    request.query = *http::parse_query(query);
    return answer(sources, request);
  }

  FakeNode tree{{"cgroup/cgroup.controllers", "cpu\n"}};
  ManualClock clock;
  const cgroup::Layout layout = *cgroup::Layout::detect(tree.roots());
  const std::unique_ptr<store::Store> store;
  service::StoreFeed feed{*store};
  metric::Registry registry{"n1", &feed};
  metric::HostMetrics host_metrics{"n1"};
  state::Hub hub;
  cgroup::Reader cgroups{layout, clock};
  service::CapabilityBoard capabilities;
  knob::MemoryOriginals originals;
  knob::Governor governor{clock, layout, tree.roots(), originals};
  service::SharedServices shared{clock, tree.roots(), registry, feed, hub, cgroups, capabilities};
  std::vector<host::PluginStatus> plugins;
  const api::ApiSources sources{.services = shared,
                                .host_metrics = host_metrics,
                                .governor = governor,
                                .hierarchy = layout.hierarchy(),
                                .plugins = [this] { return plugins; },
                                .features = [] { return std::vector<config::GateState>(); },
                                .health = [] { return std::vector<api::ModuleHealth>(); },
                                .reload_plugin = {}};

 private:
  static state::Pod pod(const std::string& uid, const std::string& name_space, const std::string& name) {
    state::Pod pod;
    pod.uid = uid;
    pod.namespace_ = name_space;
    pod.name = name;
    pod.containers.resize(1);
    return pod;
  }
};

}  // namespace koord::test
