// SPDX-License-Identifier: Apache-2.0
// PodIntake: checks a list of pods from the kubelet or the API server, adds their sandboxes, and publishes it to the
// Hub. Servers that have just begun send lists that are empty or incomplete, and a pod that is deleted by force leaves
// the list before its processes end. So an unlisted pod stays as long as its containers' cgroups exist. One thread at a
// time; it publishes in that thread.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "core/base/clock.hpp"
#include "core/cgroup/kube_root.hpp"
#include "core/cgroup/layout.hpp"
#include "core/state/hub.hpp"
#include "core/state/objects.hpp"
#include "core/state/sandboxes.hpp"

namespace koord::state {

// The judgement of a list, given the pods known before. Pure.
struct PodReview {
  std::vector<Pod> pods;
  std::size_t kept = 0;  // of them not listed
  bool complete = true;  // false: the list cannot be all that there is; then nothing that was known is dropped
};

// `runs`: a pod known before still has containers in the cgroup tree. `any_pod_runs`: of all pods, known or not; it is
// asked when a list is empty.
PodReview review_pods(std::vector<Pod> listed, const std::vector<Pod>& known,
                      const std::function<bool(const Pod&)>& runs, const std::function<bool()>& any_pod_runs);

// The kubelet's directory, from its configuration and from the cgroup tree.
cgroup::KubeRoot find_kube_root(const cgroup::Layout& layout, const std::optional<KubeletConfig>& kubelet);

// The first few and how many more there are, on one line.
std::string first_problems(const std::vector<std::string>& problems);

class PodIntake {
 public:
  PodIntake(cgroup::Layout layout, Hub& hub);

  // Publishes the list, `at`: when the server sent it. Returns one line about its problems, empty: none. Either pods
  // could not be read, or the list was not trusted, and then the pods were not confirmed.
  std::string take(PodList listed, const cgroup::KubeRoot& root, Time at);

  // The server says that its last list is still what there is.
  void confirm(Time at);

  const cgroup::Layout& layout() const { return layout_; }

 private:
  const cgroup::Layout layout_;
  Hub& hub_;
  Sandboxes sandboxes_;
  bool complete_ = false;  // the last list was
};

}  // namespace koord::state
