// SPDX-License-Identifier: Apache-2.0
#include "core/aggregated/sent_object.hpp"

#include <boost/json.hpp>
#include <utility>

#include "core/aggregated/names.hpp"
#include "core/aggregated/schema.hpp"
#include "core/base/object_name.hpp"
#include "core/base/printable.hpp"
#include "core/json/members.hpp"
#include "core/json/reader.hpp"

namespace koord::aggregated {
namespace {

namespace json = boost::json;

constexpr std::size_t kMaxAnnotationBytes = 256u << 10;

Outcome<Labels> text_map(const json::value& metadata, std::string_view name) {
  Labels map;
  const json::value* member = json_member(metadata, name);
  if (member == nullptr || member->is_null()) return map;
  if (!member->is_object()) return bad_request("metadata." + std::string(name) + " is no mapping");
  for (const auto& [key, value] : member->get_object()) {
    if (!value.is_string()) return bad_request("metadata." + std::string(name) + " has a value that is not text");
    map.emplace(std::string(key.data(), key.size()), std::string(text_view(value.get_string())));
  }
  return map;
}

Cause invalid_text(std::string_view field, std::string_view text, std::string_view rule) {
  return {std::string(field), "FieldValueInvalid",
          "Invalid value: \"" + printable(text) + "\": must be " + std::string(rule)};
}

void check_key(std::string_view field, std::string_view key, std::vector<Cause>& causes) {
  if (!is_label_key(key)) causes.push_back(invalid_text(field, key, kLabelKeyRule));
}

void check_maps(const SentObject& sent, std::vector<Cause>& causes) {
  std::size_t bytes = 0;
  for (const auto& [key, value] : sent.annotations) bytes += key.size() + value.size();
  if (bytes > kMaxAnnotationBytes)
    causes.push_back({"metadata.annotations", "FieldValueTooLong", "Too long: may not be more than 262144 bytes"});
  for (const auto& [key, value] : sent.annotations) check_key("metadata.annotations", key, causes);
  for (const auto& [key, value] : sent.labels) {
    check_key("metadata.labels", key, causes);
    if (!is_label_value(value)) causes.push_back(invalid_text("metadata.labels", value, kLabelValueRule));
  }
}

// Returns a member of the object as JSON, checked by the schema; "" if it is missing.
std::string checked_member(json::object& object, const Field& schema, std::vector<Cause>& causes) {
  json::value* member = object.if_contains({schema.name.data(), schema.name.size()});
  if (member == nullptr || member->is_null()) return {};
  if (!member->is_object()) {
    causes.push_back({std::string(schema.name), "FieldValueTypeInvalid", "Invalid value: must be of type object"});
    return {};
  }
  check_fields(schema, member->get_object(), std::string(schema.name), causes);
  return json::serialize(*member);
}

Cells cells_of(const json::object& object) {
  const json::value& status = json_mapping(object, "status");
  const json::value& usage = json_mapping(json_mapping(json_mapping(status, "nodeMetric"), "nodeUsage"), "resources");
  return {json_text(usage, "cpu"), json_text(usage, "memory"), json_text(status, "updateTime")};
}

// Returns ownerReferences, which must be a short list of mappings.
Outcome<std::string> owners_of(const json::value& metadata) {
  const json::value* owners = json_member(metadata, "ownerReferences");
  if (owners == nullptr || owners->is_null()) return std::string();
  const bool is_list = owners->is_array() && owners->get_array().size() <= 16;
  if (!is_list) return bad_request("metadata.ownerReferences is no list of at most 16");
  for (const json::value& owner : owners->get_array()) {
    const bool is_complete = !json_text(owner, "apiVersion").empty() && !json_text(owner, "kind").empty() &&
                             !json_text(owner, "name").empty() && !json_text(owner, "uid").empty();
    if (!is_complete) return bad_request("an owner reference lacks apiVersion, kind, name or uid");
  }
  return owners->get_array().empty() ? std::string() : json::serialize(*owners);
}

}  // namespace

Outcome<SentObject> read_sent_object(json::object object) {
  const std::string kind = json_text(object, "kind"), version = json_text(object, "apiVersion");
  if ((!kind.empty() && kind != kKind) || (!version.empty() && version != kApiVersion))
    return bad_request("the object is '" + kind + "' of '" + version + "', expected '" + std::string(kKind) + "' of '" +
                       std::string(kApiVersion) + "'");
  const json::value metadata = json_mapping(object, "metadata");
  SentObject sent;
  sent.name = json_text(metadata, "name");
  sent.uid = json_text(metadata, "uid");
  sent.version = json_text(metadata, "resourceVersion");
  sent.labels = TRY(text_map(metadata, "labels"));
  sent.annotations = TRY(text_map(metadata, "annotations"));
  sent.owners = TRY(owners_of(metadata));
  std::vector<Cause> causes;
  check_maps(sent, causes);
  sent.spec = checked_member(object, spec_schema(), causes);
  sent.status = checked_member(object, status_schema(), causes);
  if (!causes.empty()) return invalid_object(sent.name, std::move(causes));
  sent.cells = cells_of(object);
  return sent;
}

}  // namespace koord::aggregated
