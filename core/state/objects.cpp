// SPDX-License-Identifier: Apache-2.0
#include "core/state/objects.hpp"

#include <algorithm>
#include <boost/json.hpp>
#include <optional>

#include "core/state/document.hpp"
#include "core/state/pod_object.hpp"

namespace koord::state {
namespace {

Result<void> check_kind(const Field& object, std::initializer_list<std::string_view> expected) {
  std::string kind = TRY(object["kind"].text());
  if (kind.empty() || std::find(expected.begin(), expected.end(), kind) != expected.end()) return {};
  return object["kind"].wrong("expected '" + std::string(*expected.begin()) + "', found '" + kind + "'");
}

}  // namespace

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

Result<Node> parse_node(std::string_view text) {
  boost::json::value document = TRY(parse_document(text));
  Field object(document);
  TRY(check_kind(object, {"Node"}));
  Node node;
  node.name = TRY(object["metadata"]["name"].required_text());
  node.labels = TRY(object["metadata"]["labels"].text_map());
  node.annotations = TRY(object["metadata"]["annotations"].text_map());
  node.capacity = TRY(object["status"]["capacity"].resources());
  node.allocatable = TRY(object["status"]["allocatable"].resources());
  return node;
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
