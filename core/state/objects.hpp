// SPDX-License-Identifier: Apache-2.0
// Kubernetes objects to our own. Text in, values out; an error names the field, and then nothing of the document
// counts. [any thread]
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"
#include "core/cgroup/names.hpp"
#include "core/state/annotation_keys.hpp"
#include "core/state/snapshot.hpp"

namespace koord::state {

// A PodList or List of pods; pods and containers get their cgroup directories below `root`. A list without
// the field `items` is an error, an empty one is not. Two items of one uid are an error that names both.
Result<std::vector<Pod>> parse_pod_list(std::string_view text, const cgroup::KubeRoot& root);

// A kubelet's list of pods, as JSON: a pod that cannot be read is left out and named, the others count. A list with
// null `items` is an empty one. A kubelet that has just begun sends such a list, so it does not mean "no pods".
struct PodList {
  std::vector<Pod> pods;
  std::vector<std::string> problems;
};
Result<PodList> parse_served_pods(std::string_view text, const cgroup::KubeRoot& root);

// The same while the text comes, without the cgroups of the pods: place_pods() adds them. Only annotations that `keys`
// contain are kept, and 64 KiB of them for a pod. A list of more than kMostPods pods or kMostBytes bytes to keep is an
// error. One thread at a time.
class PodListReader {
 public:
  static constexpr std::size_t kMostPods = 4096;        // a node has 110, some 500
  static constexpr std::size_t kMostBytes = 48u << 20;  // 250 pods with 64 KiB of annotations each have 16 MiB

  explicit PodListReader(AnnotationFilter::KeysPtr keys);
  ~PodListReader();

  Result<void> feed(std::string_view piece);
  // Once, when the text has ended.
  Result<PodList> end();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Gives pods and containers their cgroup directories below `root`; a pod with a uid that cannot be a directory's name
// is left out and named.
void place_pods(PodList& list, const cgroup::KubeRoot& root, std::string_view node = {});

// Leaves out and names the pods that are bound to another node: no list of this node has them. An empty `node` leaves
// out none.
void drop_pods_of_others(PodList& list, std::string_view node);

// Returns the JSON of a pod with only the parts that parse_pod() reads; the text itself if it is not a pod.
std::string trim_pod(std::string_view text, const AnnotationFilter::KeysPtr& keys);

// One Pod, of this node when that is known: one that is bound to another node is an error then.
Result<Pod> parse_pod(std::string_view text, const cgroup::KubeRoot& root, std::string_view node = {});

Result<Node> parse_node(std::string_view text);

// Parses a kubelet's whole answer to /configz; the relevant part is below `kubeletconfig`.
Result<KubeletConfig> parse_kubelet_config(std::string_view text);

// A PersistentVolumeClaim.
struct Claim {
  std::string key;     // "namespace/name", as in Snapshot::volumes
  std::string volume;  // empty: not bound yet

  bool operator==(const Claim&) const = default;
};
Result<Claim> parse_claim(std::string_view text);

// The spec of a NodeSLO as JSON text, as it came (slo.hpp makes of it what holds); a document without `spec` is taken
// for the spec itself.
Result<std::string> parse_node_slo(std::string_view text);

// A map of resource names to quantities by itself, as annotations have it: in the units of Resource.
Result<std::map<std::string, std::int64_t, std::less<>>> parse_resources(std::string_view text);

}  // namespace koord::state
