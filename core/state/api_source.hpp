// SPDX-License-Identifier: Apache-2.0
// ApiSource: state of this node from the API server, by list and watch restricted to it: the Node, its NodeSLO, the
// objects that the agent reports on, the settings that the cluster makes NodeSLOs of, claims of volumes if configured,
// and the pods if they do not come from the kubelet. While the server is unavailable the known state stays and gets
// old. Objects are read on a strand. Functions are [loop thread] unless marked.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/clock.hpp"
#include "core/event/loop.hpp"
#include "core/event/strand.hpp"
#include "core/kube/list_watch.hpp"
#include "core/state/pod_intake.hpp"
#include "core/state/pod_places.hpp"

namespace koord::state {

class ApiSource {
 public:
  struct Parts {
    event::Loop& loop;
    event::WorkerPool& workers;
    const Clock& clock;
    Hub& hub;
    kube::Client& client;
    cgroup::Layout layout;
    const AnnotationFilter* annotations = nullptr;  // null: only what is always kept
  };
  struct Options {
    std::string node;
    bool pods = false;
    bool node_object = true, node_slo = true;  // false: another source provides them
    bool volumes = false;
    std::string slo_config_map;  // "namespace/name"; empty: not read
    kube::ReflectorOptions reflector = {};
  };
  // State of the watch of one kind.
  struct Status {
    std::string kind;  // "Node", "NodeSLO", …
    kube::Health health;
    std::string problem;  // of what came: one line; empty: none
  };
  struct Handlers {
    std::function<void()> on_status;                  // [any thread] after a change of a health or a problem
    std::function<void(const PodPlaces&)> on_places;  // [any thread] after a change of pods: where they are
  };

  ApiSource(Parts parts, const Options& options, Handlers handlers);
  ~ApiSource();

  // Stops watching.
  void end();

  // Looks for the sandboxes of pods soon. [any]
  void find_sandboxes_soon();

  // [any]
  std::vector<Status> status() const;

 private:
  // On the strand. Returns the problem; empty: none.
  using Take = std::function<std::string(const kube::Objects&)>;
  struct KnownPod {
    kube::KeptObjectPtr object;
    Result<Pod> pod;
  };

  void watch(std::string kind, kube::Collection collection, std::optional<Part> part, Take take, kube::Keep keep = {});
  AnnotationFilter::KeysPtr annotation_keys() const;  // [any]
  void watch_object(const std::string& kind, const std::string& path);
  void watch_config_map(std::string_view name);
  void set_problem(std::size_t index, std::string problem);
  void set_health(std::size_t index, const kube::Health& health);
  void confirm(Part part, Time at);
  std::string take_node(const kube::Objects& objects);
  std::string take_node_slo(const kube::Objects& objects);
  std::string take_config_map(const kube::Objects& objects);
  std::string take_volumes(const kube::Objects& objects);
  std::string take_pods(const kube::Objects& objects);

  Parts parts_;
  const Options options_;
  const Handlers handlers_;

  // On the strand.
  PodIntake intake_;
  cgroup::KubeRoot root_;
  std::map<std::string, KnownPod, std::less<>> known_pods_;  // by the key of their objects
  kube::Objects pod_objects_;
  bool pods_listed_ = false;

  mutable std::mutex mutex_;
  std::vector<Status> status_;

  event::Strand strand_;
  std::vector<std::unique_ptr<kube::ListWatch>> watches_;
};

}  // namespace koord::state
