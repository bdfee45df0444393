// SPDX-License-Identifier: Apache-2.0
#include "core/aggregated/forms.hpp"

#include "core/aggregated/names.hpp"
#include "core/base/timestamp.hpp"
#include "core/json/writer.hpp"

namespace koord::aggregated {
namespace {

// The printer columns of the CustomResourceDefinition. The last two are ages.
constexpr std::string_view kColumns =
    R"([{"name":"Name","type":"string","format":"name","description":"Name of the node.","priority":0},)"
    R"({"name":"CPU","type":"string","format":"","description":"Usage of the node in cores.","priority":0},)"
    R"({"name":"Memory","type":"string","format":"","description":"Usage of the node in bytes.","priority":0},)"
    R"({"name":"Updated","type":"date","format":"","description":"When the agent made the report.","priority":0},)"
    R"({"name":"Age","type":"date","format":"","description":"When the object was created.","priority":0}])";

std::string meta_version(const Accepted& accepted) { return "\"meta.k8s.io/" + accepted.version + "\""; }

std::string table_begin(const Accepted& accepted, const ListMetadata& metadata, bool has_columns) {
  std::string text = R"({"kind":"Table","apiVersion":)" + meta_version(accepted) +
                     R"(,"metadata":{"resourceVersion":")" + std::to_string(metadata.version) + "\"";
  if (!metadata.next_page.empty()) text += ",\"continue\":" + json_quote(metadata.next_page);
  text += "},\"columnDefinitions\":";
  text += has_columns ? kColumns : "null";
  return text + ",\"rows\":[";
}

std::string metadata_object(const Accepted& accepted, std::string_view metadata) {
  return R"({"kind":"PartialObjectMetadata","apiVersion":)" + meta_version(accepted) +
         ",\"metadata\":" + std::string(metadata) + "}";
}

// Returns the cell as JSON; null if the value is missing.
std::string cell(const std::string& text) { return text.empty() ? "null" : json_quote(text); }

// Formats an age like kubectl: one unit, or two units in the lower range of the larger one.
std::string age_text(std::int64_t seconds) {
  constexpr std::int64_t kMinute = 60, kHour = 60 * kMinute, kDay = 24 * kHour;
  const auto two = [seconds](std::int64_t large, char large_unit, std::int64_t small, char small_unit) {
    std::string text = std::to_string(seconds / large) + large_unit;
    if (seconds % large / small > 0) text += std::to_string(seconds % large / small) + small_unit;
    return text;
  };
  if (seconds < 0) return "0s";
  if (seconds < 2 * kMinute) return std::to_string(seconds) + "s";
  if (seconds < 10 * kMinute) return two(kMinute, 'm', 1, 's');
  if (seconds < 3 * kHour) return std::to_string(seconds / kMinute) + "m";
  if (seconds < 8 * kHour) return two(kHour, 'h', kMinute, 'm');
  if (seconds < 2 * kDay) return std::to_string(seconds / kHour) + "h";
  if (seconds < 8 * kDay) return two(kDay, 'd', kHour, 'h');
  return std::to_string(seconds / kDay) + "d";
}

std::string age_since(const std::string& time, std::int64_t now_seconds) {
  const auto begin = parse_timestamp(time);
  return begin ? age_text(now_seconds - *begin / 1'000'000'000) : std::string();
}

std::string table_row(const Accepted& accepted, const Object& object) {
  const Cells& cells = object.cells();
  return "{\"cells\":[" + json_quote(object.name()) + "," + cell(cells.cpu) + "," + cell(cells.memory) + "," +
         cell(age_since(cells.updated, accepted.now_seconds)) + "," +
         json_quote(age_text(accepted.now_seconds - object.identifiers().created_seconds)) +
         "],\"object\":" + metadata_object(accepted, object.metadata()) + "}";
}

std::string bookmark_metadata(Version version, bool ends_initial) {
  std::string text = "{\"resourceVersion\":\"" + std::to_string(version) + "\",\"creationTimestamp\":null";
  if (ends_initial) text += R"(,"annotations":{"k8s.io/initial-events-end":"true"})";
  return text + "}";
}

}  // namespace

ListFrame list_frame(const Accepted& accepted, const ListMetadata& metadata) {
  if (accepted.form == Form::table) return {table_begin(accepted, metadata, true), "]}\n"};
  const bool is_json = accepted.form == Form::json;
  JsonWriter json;
  json.begin_object().member("resourceVersion", std::to_string(metadata.version));
  if (!metadata.next_page.empty()) json.member("continue", metadata.next_page);
  json.end_object();
  const std::string kind = is_json ? std::string(kListKind) : "PartialObjectMetadataList";
  const std::string version = is_json ? json_quote(kApiVersion) : meta_version(accepted);
  return {"{\"kind\":\"" + kind + "\",\"apiVersion\":" + version + ",\"metadata\":" + json.text() + ",\"items\":[",
          "]}\n"};
}

Result<std::string> list_item(const Accepted& accepted, const Object& object) {
  if (accepted.form == Form::table) return table_row(accepted, object);
  if (accepted.form == Form::metadata_only) return metadata_object(accepted, object.metadata());
  return object.json();
}

Result<std::string> whole_object(const Accepted& accepted, const Object& object, bool has_columns) {
  if (accepted.form != Form::table) return list_item(accepted, object);
  return table_begin(accepted, {object.version()}, has_columns) + table_row(accepted, object) + "]}";
}

std::string bookmark_object(const Accepted& accepted, Version version, bool ends_initial) {
  const std::string metadata = bookmark_metadata(version, ends_initial);
  if (accepted.form == Form::metadata_only) return metadata_object(accepted, metadata);
  if (accepted.form == Form::json)
    return "{\"kind\":\"" + std::string(kKind) + "\",\"apiVersion\":\"" + std::string(kApiVersion) +
           "\",\"metadata\":" + metadata + "}";
  return table_begin(accepted, {version}, false) +
         "{\"cells\":[\"\",null,null,null,null],\"object\":" + metadata_object(accepted, metadata) + "}]}";
}

}  // namespace koord::aggregated
