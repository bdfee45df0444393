// SPDX-License-Identifier: Apache-2.0
// RecordedEvents: a handler that records its calls as lines, and answers as the test says, possibly later.
#pragma once

#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "core/hook/nri/events.hpp"

namespace koord::test {

struct RecordedEvents : nri::Events {
  void connected(const nri::Runtime& runtime) override {
    lines.push_back("connected " + runtime.name + " " + runtime.version);
  }
  void disconnected(const Error& why) override { lines.push_back("disconnected: " + why.message()); }

  void synchronize(std::vector<nri::Pod> all_pods, std::vector<nri::Container> all_containers,
                   nri::Done<nri::UpdateAnswer> done) override {
    lines.push_back("Synchronize");
    pods = std::move(all_pods);
    containers = std::move(all_containers);
    if (answer_synchronize)
      done(synchronize_answer);
    else
      synchronize_done = std::move(done);
  }

  void run_pod_sandbox(const nri::Pod& pod, nri::Done<nri::PodAnswer> done) override {
    lines.push_back("RunPodSandbox " + pod.id);
    done(pod_answer);
  }

  void create_container(const nri::Pod& pod, const nri::Container& container,
                        nri::Done<nri::CreateAnswer> done) override {
    lines.push_back("CreateContainer " + pod.id + " " + container.id);
    if (answer_create)
      done(create_answer);
    else
      create_done.push_back(std::move(done));
  }

  void update_container(const nri::Pod& pod, const nri::Container& container, const nri::Resources& resources,
                        nri::Done<nri::UpdateAnswer> done) override {
    lines.push_back("UpdateContainer " + pod.id + " " + container.id);
    new_resources = resources;
    done(update_answer);
  }

  void stop_container(const nri::Pod& pod, const nri::Container& container,
                      nri::Done<nri::UpdateAnswer> done) override {
    lines.push_back("StopContainer " + pod.id + " " + container.id);
    done({});
  }

  void notify(nri::Stage stage, const nri::Pod& pod, const nri::Container& container) override {
    lines.push_back(std::string(to_string(stage)) + " " + pod.id + (container.id.empty() ? "" : " " + container.id));
  }

  void late(nri::Stage stage, const std::string& id) override {
    lines.push_back("late " + std::string(to_string(stage)) + " " + id);
  }

  bool saw(const std::string& line) const { return std::count(lines.begin(), lines.end(), line) > 0; }

  std::vector<std::string> lines;
  std::vector<nri::Pod> pods;
  std::vector<nri::Container> containers;
  nri::Resources new_resources;

  bool answer_synchronize = true;
  bool answer_create = true;
  nri::UpdateAnswer synchronize_answer;
  nri::PodAnswer pod_answer;
  nri::CreateAnswer create_answer;
  nri::UpdateAnswer update_answer;
  nri::Done<nri::UpdateAnswer> synchronize_done;
  std::vector<nri::Done<nri::CreateAnswer>> create_done;
};

}  // namespace koord::test
