// SPDX-License-Identifier: Apache-2.0
#include "core/state/objects.hpp"

#include <boost/json.hpp>
#include <map>
#include <optional>

#include "core/base/parse.hpp"
#include "core/json/items.hpp"
#include "core/state/document.hpp"
#include "core/state/pod_object.hpp"

namespace koord::state {
namespace {

Result<Pod> read_item(const Field& item) {
  TRY(check_kind(item, {"Pod"}));
  return read_pod(item);
}

std::string other_node_of(const Pod& pod, std::string_view node) {
  if (node.empty() || pod.node.empty() || pod.node == node) return {};
  return "found '" + pod.node + "', expected '" + std::string(node) + "', left out";
}

Result<Pod> read_item(const Field& item, const cgroup::KubeRoot& root, std::string_view node = {}) {
  Pod pod = TRY(read_item(item));
  if (const std::string wrong = other_node_of(pod, node); !wrong.empty()) return item["spec"]["nodeName"].wrong(wrong);
  if (Result<void> placed = place_in_cgroups(pod, root, node); !placed)
    return item["metadata"]["uid"].wrong(placed.error().text);
  return pod;
}

Result<JsonItemList> check_list(Result<JsonItemList> list) {
  if (!list) return list;
  if (!list->kind.empty() && list->kind != "PodList" && list->kind != "List")
    return invalid("kind: expected 'PodList', found '" + list->kind + "'");
  if (!list->has_items && !list->null_items) return invalid("items: expected a list, found nothing");
  return list;
}

// Fails if two pods have the same uid. Pod n must be the pod of items[n].
Result<void> refuse_repeated_uids(const std::vector<Pod>& pods) {
  std::map<std::string_view, std::size_t> first;
  for (std::size_t i = 0; i < pods.size(); ++i) {
    const auto [earlier, is_new] = first.emplace(pods[i].uid, i);
    if (!is_new)
      return invalid("items[" + std::to_string(i) + "].metadata.uid: '" + pods[i].uid + "' is the uid of items[" +
                     std::to_string(earlier->second) + "], too; expected one item for each uid");
  }
  return {};
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

Result<std::vector<Pod>> parse_json_list(std::string_view text, const cgroup::KubeRoot& root) {
  std::vector<Pod> pods;
  std::optional<Error> bad;
  JsonItemList list = TRY(check_list(for_each_json_item(text, kWantedOfPod, [&](const Field& item) {
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

}  // namespace

Result<std::vector<Pod>> parse_pod_list(std::string_view text, const cgroup::KubeRoot& root) {
  const bool is_json = trim(text).starts_with('{');
  std::vector<Pod> pods = TRY(is_json ? parse_json_list(text, root) : parse_yaml_list(text, root));
  TRY(refuse_repeated_uids(pods));
  return pods;
}

struct PodListReader::State {
  explicit State(AnnotationFilter::KeysPtr keys)
      : reader(
            kWantedOfPod, [keys = std::move(keys)](std::string_view key) { return keys->contains(key); },
            [this](const Field& item, const JsonItemReader::Notes& notes) { take(item, notes); }) {}

  void take(const Field& item, const JsonItemReader::Notes& notes) {
    ++items;
    bytes += notes.bytes;
    if (is_too_large()) return;
    if (notes.too_large)
      return list.problems.push_back(item.wrong("the pod has more than 4 MiB to read, left out").message());
    Result<Pod> pod = read_item(item);
    if (!pod) return list.problems.push_back(pod.error().message());
    for (const std::string& key : notes.left_out)
      list.problems.push_back("pod " + full_name(*pod) + ": annotation " + key +
                              " is left out: more than 64 KiB of annotations");
    list.pods.push_back(*std::move(pod));
  }

  bool is_too_large() const { return items > kMostPods || bytes > kMostBytes; }

  Result<void> check_size() const {
    if (!is_too_large()) return {};
    const std::string most =
        std::to_string(kMostPods) + " pods or " + std::to_string(kMostBytes >> 20) + " MiB to keep";
    return Error{std::make_error_code(std::errc::message_size),
                 "items: found more than " + most + ", expected at most those"};
  }

  PodList list;
  std::size_t items = 0, bytes = 0;
  JsonItemReader reader;
};

PodListReader::PodListReader(AnnotationFilter::KeysPtr keys) : state_(std::make_unique<State>(std::move(keys))) {}

PodListReader::~PodListReader() = default;

Result<void> PodListReader::feed(std::string_view piece) {
  TRY(state_->reader.feed(piece));
  return state_->check_size();
}

Result<PodList> PodListReader::end() {
  TRY(check_list(state_->reader.end()));
  TRY(state_->check_size());
  return std::move(state_->list);
}

void place_pods(PodList& list, const cgroup::KubeRoot& root, std::string_view node) {
  std::erase_if(list.pods, [&](Pod& pod) {
    Result<void> placed = place_in_cgroups(pod, root, node);
    if (!placed) list.problems.push_back("pod " + full_name(pod) + ": " + placed.error().message());
    return !placed;
  });
}

void drop_pods_of_others(PodList& list, std::string_view node) {
  std::erase_if(list.pods, [&](const Pod& pod) {
    const std::string wrong = other_node_of(pod, node);
    if (!wrong.empty()) list.problems.push_back("pod " + full_name(pod) + ": spec.nodeName: " + wrong);
    return !wrong.empty();
  });
}

Result<PodList> parse_served_pods(std::string_view text, const cgroup::KubeRoot& root) {
  PodListReader reader(std::make_shared<const AnnotationKeys>());
  TRY(reader.feed(text));
  PodList list = TRY(reader.end());
  place_pods(list, root);
  return list;
}

std::string trim_pod(std::string_view text, const AnnotationFilter::KeysPtr& keys) {
  std::string trimmed;
  JsonItemReader reader(
      kWantedOfPod, [&keys](std::string_view key) { return keys->contains(key); },
      [&trimmed](const Field& item, const JsonItemReader::Notes&) { trimmed = item.json(); });
  const bool is_whole = reader.feed(R"({"items":[)") && reader.feed(text) && reader.feed("]}") && reader.end();
  return is_whole ? trimmed : std::string(text);
}

Result<Pod> parse_pod(std::string_view text, const cgroup::KubeRoot& root, std::string_view node) {
  boost::json::value document = TRY(parse_document(text));
  return read_item(Field(document), root, node);
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
