// SPDX-License-Identifier: Apache-2.0
#include "core/manager/node_facts.hpp"

#include <boost/json.hpp>

#include "core/json/members.hpp"
#include "core/json/reader.hpp"

namespace koord::manager {
namespace {

namespace json = boost::json;

constexpr std::string_view kOwnAnnotations = "node.koordinator.sh/";

json::object picked(const json::value& from, std::initializer_list<std::string_view> names) {
  json::object to;
  for (std::string_view name : names)
    if (const json::value* member = json_member(from, name)) to[name] = *member;
  return to;
}

json::object own_annotations(const json::value& metadata) {
  json::object kept;
  const json::object* all = json_mapping(metadata, "annotations").if_object();
  if (!all) return kept;
  for (const auto& annotation : *all)
    if (annotation.key().starts_with(kOwnAnnotations)) kept[annotation.key()] = annotation.value();
  return kept;
}

void add_offer(const Offer& offer, json::object& resources) {
  resources[offer.names.cpu] = offer.amount ? json::value(std::to_string(offer.amount->cpu)) : json::value();
  resources[offer.names.memory] = offer.amount ? json::value(std::to_string(offer.amount->memory)) : json::value();
}

}  // namespace

std::string trim_node(std::string_view object) {
  const Result<json::value> node = read_json(object);
  if (!node) return std::string(object);
  json::object kept;
  const json::value& metadata = json_mapping(*node, "metadata");
  json::object kept_metadata = picked(metadata, {"name", "uid", "labels"});
  kept_metadata["annotations"] = own_annotations(metadata);
  kept["metadata"] = std::move(kept_metadata);
  kept["status"] = picked(json_mapping(*node, "status"), {"capacity", "allocatable"});
  return json::serialize(kept);
}

std::optional<CpuMemory> published(const state::Node& node, const ResourcePair& names) {
  const auto cpu = node.allocatable.find(names.cpu), memory = node.allocatable.find(names.memory);
  const auto end = node.allocatable.end();
  if (cpu == end && memory == end) return std::nullopt;
  return CpuMemory{cpu == end ? 0 : cpu->second, memory == end ? 0 : memory->second};
}

std::string status_patch(const std::vector<Offer>& offers) {
  json::object capacity;
  for (const Offer& offer : offers) add_offer(offer, capacity);
  const json::object allocatable = capacity;
  return json::serialize(json::object{{"status", {{"capacity", capacity}, {"allocatable", allocatable}}}});
}

}  // namespace koord::manager
