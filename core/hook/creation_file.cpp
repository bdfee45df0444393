// SPDX-License-Identifier: Apache-2.0
#include "core/hook/creation_file.hpp"

#include <algorithm>
#include <boost/json.hpp>
#include <utility>

#include "core/cgroup/names.hpp"
#include "core/json/field.hpp"
#include "core/json/reader.hpp"

namespace koord::hook {
namespace {

constexpr std::size_t kMostNameBytes = 120;

bool is_part_of_file_name(std::string_view text) {
  return !text.empty() && text.size() <= kMostNameBytes && std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '_';
  });
}

}  // namespace

std::string file_name_of(const CreationRecord& record) {
  if (!is_part_of_file_name(record.pod_uid) || !is_part_of_file_name(record.container)) return {};
  return record.pod_uid + "." + record.container;
}

std::string text_of(const CreationRecord& record) {
  boost::json::array unadjusted;
  for (const Unadjusted& one : record.unadjusted)
    unadjusted.push_back({{"knob", one.knob}, {"value", one.value}, {"plugin", one.plugin}});
  return boost::json::serialize(
      boost::json::object{{"podUid", record.pod_uid},
                          {"container", record.container},
                          {"id", record.id},
                          {"beforeId", record.before_id},
                          {"cgroup", record.cgroup_dir},
                          {"unadjusted", std::move(unadjusted)},
                          {"fields", boost::json::array(record.fields.begin(), record.fields.end())}});
}

Result<CreationRecord> read_creation_record(std::string_view text) {
  const boost::json::value root = TRY(read_json(text, kMostRecordBytes));
  const JsonField field(root);
  TRY(field.check_mapping());
  CreationRecord record;
  record.pod_uid = TRY(field["podUid"].required_text());
  record.container = TRY(field["container"].required_text());
  record.id = TRY(field["id"].text());
  record.before_id = TRY(field["beforeId"].text());
  record.cgroup_dir = TRY(field["cgroup"].text());
  if (!record.cgroup_dir.empty() && !cgroup::is_cgroup(record.cgroup_dir))
    return invalid("cgroup: '" + record.cgroup_dir + "' is not a cgroup");
  for (const JsonField& one : TRY(field["unadjusted"].list())) {
    Unadjusted& value = record.unadjusted.emplace_back();
    value.knob = TRY(one["knob"].required_text());
    value.value = TRY(one["value"].text());
    value.plugin = TRY(one["plugin"].required_text());
  }
  for (const JsonField& one : TRY(field["fields"].list())) record.fields.push_back(TRY(one.required_text()));
  return record;
}

}  // namespace koord::hook
