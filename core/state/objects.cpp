// SPDX-License-Identifier: Apache-2.0
#include "core/state/objects.hpp"

#include <boost/json.hpp>

#include "core/state/document.hpp"
#include "core/state/pod_object.hpp"

namespace koord::state {
Result<std::vector<Pod>> parse_pod_list(std::string_view text, const cgroup::KubeRoot& root) {
  boost::json::value document = TRY(parse_document(text));
  Field object(document);
  TRY(check_kind(object, {"PodList", "List"}));
  if (object["items"].empty()) return object["items"].wrong("expected a list, found nothing");
  std::vector<Field> items = TRY(object["items"].list());
  std::vector<Pod> pods;
  for (const Field& item : items) {
    TRY(check_kind(item, {"Pod"}));
    pods.push_back(TRY(read_pod(item, root)));
  }
  return pods;
}

Result<PodList> parse_served_pods(std::string_view text, const cgroup::KubeRoot& root) {
  boost::json::value document = TRY(parse_document(text));
  Field object(document);
  TRY(object.members());
  TRY(check_kind(object, {"PodList", "List"}));
  if (!document.as_object().contains("items")) return object["items"].wrong("expected a list, found nothing");
  std::vector<Field> items = TRY(object["items"].list());
  PodList list;
  for (const Field& item : items) {
    Result<Pod> pod = read_pod(item, root);
    if (pod)
      list.pods.push_back(*std::move(pod));
    else
      list.problems.push_back(pod.error().message());
  }
  return list;
}

Result<Pod> parse_pod(std::string_view text, const cgroup::KubeRoot& root) {
  boost::json::value document = TRY(parse_document(text));
  Field object(document);
  TRY(check_kind(object, {"Pod"}));
  return read_pod(object, root);
}

Result<std::string> parse_node_slo(std::string_view text) {
  boost::json::value document = TRY(parse_document(text));
  Field object(document);
  TRY(object.members());
  TRY(check_kind(object, {"NodeSLO"}));
  Field spec = object["spec"];
  TRY(spec.members());
  bool whole = spec.empty() && object["kind"].empty();
  if (spec.empty() && !whole) return std::string("{}");
  return whole ? object.json() : spec.json();
}

}  // namespace koord::state
