// SPDX-License-Identifier: Apache-2.0
#include "core/state/pod_intake.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "core/base/parse.hpp"
#include "core/state/tree_walk.hpp"

namespace koord::state {
namespace {

constexpr std::size_t kReportedProblems = 3;

std::set<std::string, std::less<>> uids_of(const std::vector<Pod>& pods) {
  std::set<std::string, std::less<>> uids;
  for (const Pod& pod : pods) uids.insert(pod.uid);
  return uids;
}

// Keeps only the first of the pods with the same uid, because they would share one cgroup.
void drop_repeated(PodList& list) {
  std::map<std::string, std::string> names;  // key: uid
  std::erase_if(list.pods, [&](const Pod& pod) {
    const std::string name = full_name(pod);
    const auto [first, is_new] = names.emplace(pod.uid, name);
    const std::string wrong = "metadata.uid: '" + pod.uid + "' is that of pod " + first->second + ", left out";
    if (!is_new) list.problems.push_back("pod " + name + ": " + wrong);
    return !is_new;
  });
}

bool has_containers(const cgroup::Layout& layout, const std::string& pod_dir) {
  return !pod_dir.empty() && !list_children(layout, pod_dir).empty();
}

// Returns whether any pod has containers in the cgroup tree. Also returns true if the tree cannot be listed.
bool any_pod_has_containers(const cgroup::Layout& layout, const cgroup::KubeRoot& root) {
  const std::vector<Pod> pods = walk_pods(layout, "");
  const bool some = std::any_of(pods.begin(), pods.end(), [](const Pod& pod) { return !pod.containers.empty(); });
  return some || list_children(layout, root.dir).empty();
}

std::string doubt_of(const PodReview& review, std::size_t listed) {
  if (listed == 0) return "no pods are listed while cgroups of pods are there";
  return std::to_string(review.kept) + " pods are missing in a list of " + std::to_string(listed) + " and still run";
}

}  // namespace

PodReview review_pods(std::vector<Pod> listed, const std::vector<Pod>& known,
                      const std::function<bool(const Pod&)>& runs, const std::function<bool()>& any_pod_runs) {
  PodReview review;
  const auto uids = uids_of(listed);
  std::vector<Pod> running, ended;
  for (const Pod& pod : known) {
    if (!uids.contains(pod.uid)) (runs(pod) ? running : ended).push_back(pod);
  }
  review.complete = listed.empty() ? running.empty() && !any_pod_runs() : running.size() <= listed.size();
  if (!review.complete) running.insert(running.end(), ended.begin(), ended.end());
  review.kept = running.size();
  review.pods = std::move(listed);
  review.pods.insert(review.pods.end(), std::make_move_iterator(running.begin()),
                     std::make_move_iterator(running.end()));
  return review;
}

std::string first_problems(const std::vector<std::string>& problems) {
  const std::size_t reported = std::min(problems.size(), kReportedProblems);
  std::string text = join({problems.begin(), problems.begin() + static_cast<std::ptrdiff_t>(reported)}, "; ");
  if (problems.size() > reported) text += "; and " + std::to_string(problems.size() - reported) + " more";
  return text;
}

cgroup::KubeRoot find_kube_root(const cgroup::Layout& layout, const std::optional<KubeletConfig>& kubelet) {
  if (!kubelet || kubelet->cgroup_driver.empty()) return cgroup::choose_kube_root(layout);
  const cgroup::Driver driver =
      kubelet->cgroup_driver == "systemd" ? cgroup::Driver::systemd : cgroup::Driver::cgroupfs;
  const Result<cgroup::KubeRoot> reported = cgroup::kube_root_below(driver, kubelet->cgroup_root);
  return reported ? cgroup::choose_kube_root(layout, *reported) : cgroup::choose_kube_root(layout);
}

PodIntake::PodIntake(cgroup::Layout layout, Hub& hub) : layout_(std::move(layout)), hub_(hub) {}

std::string PodIntake::take(PodList listed, const cgroup::KubeRoot& root, Time at) {
  drop_repeated(listed);
  const std::size_t count = listed.pods.size();
  const SnapshotPtr before = hub_.current();
  PodReview review = review_pods(
      std::move(listed.pods), before->pods, [this](const Pod& pod) { return has_containers(layout_, pod.cgroup_dir); },
      [&] { return any_pod_has_containers(layout_, root); });
  complete_ = review.complete;
  const std::string doubt = complete_ ? "" : doubt_of(review, count);
  if (complete_ || !review.pods.empty()) {
    sandboxes_.add_to(review.pods, layout_);
    hub_.publish({.pods = std::move(review.pods)});
  }
  confirm(at);
  if (!doubt.empty()) listed.problems.insert(listed.problems.begin(), doubt);
  return first_problems(listed.problems);
}

void PodIntake::confirm(Time at) {
  if (complete_) hub_.confirm(kPods, at);
}

}  // namespace koord::state
