// SPDX-License-Identifier: Apache-2.0
#include "core/state/objects.hpp"

#include <boost/json.hpp>
#include <optional>

#include "core/base/parse.hpp"
#include "core/state/document.hpp"
#include "core/state/json_items.hpp"
#include "core/state/pod_object.hpp"

namespace koord::state {
namespace {

Result<Pod> read_item(const Field& item, const cgroup::KubeRoot& root) {
  TRY(check_kind(item, {"Pod"}));
  return read_pod(item, root);
}

Result<ItemList> check_list(Result<ItemList> list) {
  if (!list) return list;
  if (!list->kind.empty() && list->kind != "PodList" && list->kind != "List")
    return invalid("kind: expected 'PodList', found '" + list->kind + "'");
  if (!list->has_items && !list->null_items) return invalid("items: expected a list, found nothing");
  return list;
}

Result<std::vector<Pod>> parse_yaml_list(std::string_view text, const cgroup::KubeRoot& root) {
  boost::json::value document = TRY(parse_document(text));
  Field object(document);
  TRY(check_kind(object, {"PodList", "List"}));
  if (object["items"].empty()) return object["items"].wrong("expected a list, found nothing");
  std::vector<Field> items = TRY(object["items"].list());
  std::vector<Pod> pods;
  for (const Field& item : items) pods.push_back(TRY(read_item(item, root)));
  return pods;
}

}  // namespace

Result<std::vector<Pod>> parse_pod_list(std::string_view text, const cgroup::KubeRoot& root) {
  if (!trim(text).starts_with('{')) return parse_yaml_list(text, root);
  std::vector<Pod> pods;
  std::optional<Error> bad;
  ItemList list = TRY(check_list(for_each_item(text, kWantedOfPod, [&](const Field& item) {
    if (bad) return;
    Result<Pod> pod = read_item(item, root);
    if (pod)
      pods.push_back(*std::move(pod));
    else
      bad = std::move(pod).error();
  })));
  if (!list.has_items) return invalid("items: expected a list, found nothing");
  if (bad) return *std::move(bad);
  return pods;
}

Result<PodList> parse_served_pods(std::string_view text, const cgroup::KubeRoot& root) {
  PodList list;
  TRY(check_list(for_each_item(text, kWantedOfPod, [&](const Field& item) {
    Result<Pod> pod = read_item(item, root);
    if (pod)
      list.pods.push_back(*std::move(pod));
    else
      list.problems.push_back(pod.error().message());
  })));
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
