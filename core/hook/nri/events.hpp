// SPDX-License-Identifier: Apache-2.0
// Events: the handler of a client's user. The runtime calls plugins one after the other under one lock, so a slow
// answer delays all pods of the node. A handler must not block the loop: it may answer later, from any thread.
// [loop thread]
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.hpp"
#include "core/hook/nri/stage.hpp"
#include "core/hook/nri/types.hpp"

namespace koord::nri {

// The runtime refuses the pod or container with this text, which its client (the kubelet) gets.
struct Refusal {
  std::string reason;
};

struct PodAnswer {
  std::optional<Refusal> refusal = std::nullopt;
};

struct CreateAnswer {
  Adjustment adjustment = {};
  std::vector<Update> updates = {};  // of other containers
  std::optional<Refusal> refusal = std::nullopt;
};

struct UpdateAnswer {
  std::vector<Update> updates = {};
  std::optional<Refusal> refusal = std::nullopt;  // ignored for Synchronize and StopContainer
};

// Takes the answer to one event. [any thread, while the loop exists] Call it once. After the deadline it has no effect
// on the runtime, which has got "no change" already; Events::late() reports that. After the connection has ended it has
// no effect at all.
template <class Answer>
using Done = std::function<void(Answer)>;

class Events {
 public:
  virtual ~Events() = default;

  // The runtime has answered a new connection; its pods and containers follow.
  virtual void connected(const Runtime& /*runtime*/) {}
  // After connected(). All that comes from the next connection begins with synchronize().
  virtual void disconnected(const Error& /*why*/) {}

  // All pods and containers of the node.
  virtual void synchronize(std::vector<Pod> /*pods*/, std::vector<Container> /*containers*/, Done<UpdateAnswer> done) {
    done({});
  }

  // The cgroup of the pod exists, its sandbox does not run yet.
  virtual void run_pod_sandbox(const Pod& /*pod*/, Done<PodAnswer> done) { done({}); }

  // The cgroup of the container does not exist yet.
  virtual void create_container(const Pod& /*pod*/, const Container& /*container*/, Done<CreateAnswer> done) {
    done({});
  }

  // `resources`: the values that the runtime is about to set. An update of the same container changes them.
  virtual void update_container(const Pod& /*pod*/, const Container& /*container*/, const Resources& /*resources*/,
                                Done<UpdateAnswer> done) {
    done({});
  }

  virtual void stop_container(const Pod& /*pod*/, const Container& /*container*/, Done<UpdateAnswer> done) { done({}); }

  // The other events, which are answered at once. `container` is empty for those of a pod.
  virtual void notify(Stage /*stage*/, const Pod& /*pod*/, const Container& /*container*/) {}

  // An answer came after the deadline. `id` is that of the container, or of the pod, empty for Synchronize.
  virtual void late(Stage /*stage*/, const std::string& /*id*/) {}
};

}  // namespace koord::nri
