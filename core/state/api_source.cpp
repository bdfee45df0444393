// SPDX-License-Identifier: Apache-2.0
#include "core/state/api_source.hpp"

#include <boost/json.hpp>
#include <utility>

#include "core/state/document.hpp"
#include "core/state/objects.hpp"
#include "core/state/pod_object.hpp"
#include "core/state/slo.hpp"

namespace koord::state {
namespace {

// Bounds the memory for a list, because a page is in memory as a whole, and a pod may have 256 KiB of annotations.
constexpr std::size_t kPodsInPage = 20;

constexpr std::string_view kSloApi = "/apis/slo.koordinator.sh/v1alpha1/";

std::shared_ptr<const std::string> shared(std::string text) {
  return std::make_shared<const std::string>(std::move(text));
}

// Returns the text of the object `key` of a collection restricted to it; "" if it does not exist. Fails if the
// collection has only other objects, because in that case the server ignores the field selector.
Result<std::string> only_text(const kube::Objects& objects, const std::string& key) {
  if (objects.empty()) return std::string();
  if (const auto own = objects.find(key); own != objects.end()) return own->second->text;
  return invalid("metadata.name: found '" + objects.begin()->first + "', expected '" + key + "'");
}

std::string config_map_data(const std::string& text) {
  const Result<boost::json::value> object = parse_document(text);
  if (!object) return "";
  const Field data = Field(*object)["data"];
  return data.empty() ? "{}" : data.json();
}

}  // namespace

ApiSource::ApiSource(Parts parts, const Options& options, Handlers handlers)
    : parts_(std::move(parts)),
      options_(options),
      handlers_(std::move(handlers)),
      intake_(parts_.layout, parts_.hub),
      strand_(parts_.workers, "api") {
  const std::string this_node = "metadata.name=" + options_.node;
  if (options_.node_object)
    watch("Node", {.path = "/api/v1/nodes", .field_selector = this_node}, kNode,
          [this](const kube::Objects& o) { return take_node(o); });
  if (options_.pods)
    watch(
        "Pod",
        {.path = "/api/v1/pods",
         .field_selector = "spec.nodeName=" + options_.node,
         .page = kPodsInPage,
         .newest = true},
        kPods, [this](const kube::Objects& o) { return take_pods(o); },
        [this](const kube::ObjectView& object) { return trim_pod(object.json, annotation_keys()); });
  if (options_.node_slo)
    watch("NodeSLO", {.path = std::string(kSloApi) + "nodeslos", .field_selector = this_node}, kNodeSlo,
          [this](const kube::Objects& o) { return take_node_slo(o); });
  watch_object("NodeMetric", std::string(kSloApi) + "nodemetrics");
  watch_object("NodeResourceTopology", "/apis/topology.node.k8s.io/v1alpha1/noderesourcetopologies");
  watch_object("Device", "/apis/scheduling.koordinator.sh/v1alpha1/devices");
  if (!options_.slo_config_map.empty()) watch_config_map(options_.slo_config_map);
  if (options_.volumes)
    watch(
        "PersistentVolumeClaim", {.path = "/api/v1/persistentvolumeclaims", .newest = true}, {},
        [this](const kube::Objects& o) { return take_volumes(o); },
        [](const kube::ObjectView& object) {
          const Result<Claim> claim = parse_claim(object.json);
          return claim ? claim->volume : std::string();
        });
}

ApiSource::~ApiSource() = default;

void ApiSource::end() { watches_.clear(); }

AnnotationFilter::KeysPtr ApiSource::annotation_keys() const {
  return parts_.annotations ? parts_.annotations->keys() : std::make_shared<const AnnotationKeys>();
}

void ApiSource::watch(std::string kind, kube::Collection collection, std::optional<Part> part, Take take,
                      kube::Keep keep) {
  const std::size_t index = watches_.size();
  {
    std::lock_guard lock(mutex_);
    status_.push_back({std::move(kind), {}, {}});
  }
  kube::ListWatchHandlers handlers;
  handlers.on_objects = [this, index, take = std::move(take)](const kube::Objects& objects, const kube::Difference&) {
    strand_.post([this, index, take, objects] { set_problem(index, take(objects)); });
  };
  handlers.on_health = [this, index](const kube::Health& health) { set_health(index, health); };
  if (part) {
    handlers.on_confirmed = [this, part](Time at) { strand_.post([this, part, at] { confirm(*part, at); }); };
  }
  kube::ListWatchOptions options;
  options.keep = std::move(keep);
  options.reflector = options_.reflector;
  watches_.push_back(std::make_unique<kube::ListWatch>(parts_.loop, parts_.workers, parts_.clock, parts_.client,
                                                       std::move(collection), std::move(options), std::move(handlers)));
}

// Watches an object that only the agent itself reads and writes.
void ApiSource::watch_object(const std::string& kind, const std::string& path) {
  watch(kind, {.path = path, .field_selector = "metadata.name=" + options_.node}, {},
        [this, kind](const kube::Objects& objects) {
          Result<std::string> text = only_text(objects, options_.node);
          if (!text) return text.error().message();
          parts_.hub.publish({.objects = {{kind, shared(*std::move(text))}}});
          return std::string();
        });
}

void ApiSource::watch_config_map(std::string_view name) {
  const std::size_t slash = name.find('/');
  if (slash == std::string_view::npos) return;
  watch("ConfigMap",
        {.path = "/api/v1/namespaces/" + std::string(name.substr(0, slash)) + "/configmaps",
         .field_selector = "metadata.name=" + std::string(name.substr(slash + 1))},
        {}, [this](const kube::Objects& objects) { return take_config_map(objects); });
}

void ApiSource::find_sandboxes_soon() {
  strand_.post([this] {
    if (pods_listed_) take_pods(kube::Objects(pod_objects_));
  });
}

std::vector<ApiSource::Status> ApiSource::status() const {
  std::lock_guard lock(mutex_);
  return status_;
}

void ApiSource::set_problem(std::size_t index, std::string problem) {
  {
    std::lock_guard lock(mutex_);
    if (status_[index].problem == problem) return;
    status_[index].problem = std::move(problem);
  }
  if (handlers_.on_status) handlers_.on_status();
}

void ApiSource::set_health(std::size_t index, const kube::Health& health) {
  {
    std::lock_guard lock(mutex_);
    status_[index].health = health;
  }
  if (handlers_.on_status) handlers_.on_status();
}

void ApiSource::confirm(Part part, Time at) {
  if (part == kPods) return intake_.confirm(at);
  parts_.hub.confirm(part, at);
}

std::string ApiSource::take_node(const kube::Objects& objects) {
  if (objects.empty()) return "the API server has no Node '" + options_.node + "'";
  const Result<std::string> text = only_text(objects, options_.node);
  if (!text) return text.error().message();
  Result<Node> node = parse_node(*text);
  if (!node) return node.error().message();
  parts_.hub.publish({.node = *std::move(node)});
  return {};
}

// Publishes the NodeSLO. Without a NodeSLO the defaults apply.
std::string ApiSource::take_node_slo(const kube::Objects& objects) {
  const Result<std::string> text = only_text(objects, options_.node);
  if (!text) return text.error().message();
  const Result<std::string> spec = objects.empty() ? std::string() : parse_node_slo(*text);
  if (!spec) return spec.error().message();
  Result<EffectiveSlo> effective = effective_slo(*spec);
  if (!effective) return effective.error().message();
  Update update;
  update.node_slo = std::move(effective->spec);
  update.received_slo = shared(*spec);
  parts_.hub.publish(std::move(update));
  std::vector<std::string> problems;
  for (const SloProblem& problem : effective->problems) problems.push_back(text_of(problem));
  return first_problems(problems);
}

std::string ApiSource::take_config_map(const kube::Objects& objects) {
  const Result<std::string> text = only_text(objects, options_.slo_config_map);
  if (!text) return text.error().message();
  parts_.hub.publish({.cluster_slo = shared(objects.empty() ? "" : config_map_data(*text))});
  return {};
}

std::string ApiSource::take_volumes(const kube::Objects& objects) {
  StringMap volumes;
  for (const auto& [key, object] : objects) {
    if (!object->text.empty()) volumes.emplace(key, object->text);
  }
  parts_.hub.publish({.volumes = std::move(volumes)});
  return {};
}

// Parses only the objects that have changed, or all if the root of the pods' cgroups has changed.
std::string ApiSource::take_pods(const kube::Objects& objects) {
  const cgroup::KubeRoot root = find_kube_root(parts_.layout, parts_.hub.current()->kubelet);
  if (root != root_) known_pods_.clear();
  root_ = root;
  std::erase_if(known_pods_, [&](const auto& entry) { return !objects.contains(entry.first); });
  PodList list;
  for (const auto& [key, object] : objects) {
    auto known = known_pods_.find(key);
    if (known == known_pods_.end() || known->second.object != object) {
      known = known_pods_.insert_or_assign(key, KnownPod{object, parse_pod(object->text, root, options_.node)}).first;
      if (known->second.pod) drop_forged_source(*known->second.pod, options_.node);
    }
    if (known->second.pod)
      list.pods.push_back(*known->second.pod);
    else
      list.problems.push_back("pod '" + key + "': " + known->second.pod.error().message());
  }
  pod_objects_ = objects;
  pods_listed_ = true;
  const PodPlaces places = find_pods(parts_.layout, root, list.pods, options_.node);
  if (places.root != root) place_pods(list, places.root, options_.node);
  std::string problem = intake_.take(std::move(list), places.root, parts_.clock.now());
  if (handlers_.on_places) handlers_.on_places(places);
  return problem;
}

}  // namespace koord::state
