// SPDX-License-Identifier: Apache-2.0
#include "plugins/qos-blkio/storage.hpp"

#include <boost/json.hpp>

#include "core/base/parse.hpp"
#include "core/json/reader.hpp"

namespace koord::blkio {
namespace {

namespace json = boost::json;

Result<json::object> parse_object(std::string_view text, const std::string& what) {
  Result<json::object> object = read_json_object(text);
  if (!object) return std::move(object).error().context(what);
  return object;
}

Result<Map> texts_of(const json::value& value, std::string_view name) {
  const json::object* object = value.if_object();
  if (!object) return invalid("'" + std::string(name) + "' is no JSON object");
  Map texts;
  for (const auto& [key, text] : *object) {
    if (!text.is_string()) return invalid("'" + std::string(name) + "' holds something that is not text");
    texts.emplace(std::string_view(key.data(), key.size()), text_view(text.get_string()));
  }
  return texts;
}

// Returns a map of strings; empty if it is missing.
Result<Map> member(const json::object& object, std::string_view name) {
  const json::value* value = object.if_contains(json::string_view(name.data(), name.size()));
  return value ? texts_of(*value, name) : Result<Map>(Map());
}

}  // namespace

std::string volume_of_mount(std::string_view point) {
  constexpr std::string_view kPods = "/pods/", kVolumes = "/volumes/kubernetes.io~";
  const std::size_t volumes = point.find(kVolumes);
  if (volumes == std::string_view::npos) return "";
  const std::size_t pods = point.rfind(kPods, volumes);
  if (pods == std::string_view::npos) return "";
  const std::string_view uid = point.substr(pods + kPods.size(), volumes - pods - kPods.size());
  std::string_view rest = point.substr(volumes + kVolumes.size());
  const auto driver = next_field(rest, '/'), name = next_field(rest, '/');
  const bool is_volume = driver && name && !name->empty() && !uid.empty() && uid.find('/') == std::string_view::npos;
  return is_volume && (rest.empty() || rest == "mount") ? std::string(uid) + "/" + std::string(*name) : "";
}

Result<Storage> parse_storage(std::string_view text) {
  const json::object object = TRY(parse_object(text, "node_local_storage_info"));
  Storage storage;
  storage.number_of_disk = TRY(member(object, "DiskNumberMap"));
  storage.disk_of_partition = TRY(member(object, "PartitionDiskMap"));
  storage.disk_of_group = TRY(member(object, "VGDiskMap"));
  storage.group_of_volume = TRY(member(object, "LVMapperVGMap"));
  const Map mounts = TRY(member(object, "MPDiskMap"));
  for (const auto& [point, device] : mounts)
    if (std::string volume = volume_of_mount(point); !volume.empty())
      storage.device_of_volume.emplace(std::move(volume), device);
  return storage;
}

Result<PodVolumes> parse_pod_volumes(std::string_view text) {
  const json::object object = TRY(parse_object(text, "pod_volumes"));
  PodVolumes pods;
  for (const auto& [uid, volumes] : object) {
    const std::string pod(uid.data(), uid.size());
    pods.emplace(pod, TRY(texts_of(volumes, pod)));
  }
  return pods;
}

}  // namespace koord::blkio
