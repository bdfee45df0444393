// SPDX-License-Identifier: Apache-2.0
#include "core/manager/lease_record.hpp"

#include <array>
#include <boost/json.hpp>
#include <cstdio>

#include "core/base/parse.hpp"
#include "core/base/timestamp.hpp"
#include "core/json/field.hpp"
#include "core/json/members.hpp"
#include "core/json/reader.hpp"

namespace koord::manager {

namespace json = boost::json;

Result<LeaseRecord> parse_lease(std::string_view object) {
  const json::value document = TRY(read_json(object));
  const JsonField lease(document);
  LeaseRecord record;
  static_cast<kube::LeaseState&>(record) = TRY(kube::read_lease_state(lease));
  const JsonField annotations = lease["metadata"]["annotations"];
  record.versions = parse_uint(annotations[kVersionsAnnotation].text().value_or("")).value_or(0);
  record.resource_version = TRY(lease["metadata"]["resourceVersion"].text());
  record.object = object;
  return record;
}

Result<std::string> lease_json(const kube::LeasePlace& place, const LeaseRecord& record) {
  json::object lease;
  if (!record.object.empty()) lease = TRY(read_json_object(record.object));
  lease["apiVersion"] = "coordination.k8s.io/v1";
  lease["kind"] = "Lease";
  json::object& metadata = mapping_to_fill(lease, "metadata");
  metadata["name"] = place.name;
  metadata["namespace"] = place.name_space;
  if (record.versions > 0)
    mapping_to_fill(metadata, "annotations")[kVersionsAnnotation] = std::to_string(record.versions);
  json::object& spec = mapping_to_fill(lease, "spec");
  spec["holderIdentity"] = record.holder;
  spec["leaseDurationSeconds"] = std::chrono::duration_cast<std::chrono::seconds>(record.duration).count();
  spec["leaseTransitions"] = record.transitions;
  if (!record.acquired.empty()) spec["acquireTime"] = record.acquired;
  if (!record.renewed.empty()) spec["renewTime"] = record.renewed;
  return json::serialize(lease);
}

std::string format_micro_time(std::int64_t wall_ns) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  const std::int64_t seconds = wall_ns / kSecond - (wall_ns % kSecond < 0 ? 1 : 0);
  std::string text = format_timestamp(seconds);
  std::array<char, 16> fraction{};
  std::snprintf(fraction.data(), fraction.size(), ".%06d", static_cast<int>((wall_ns - seconds * kSecond) / 1000));
  return text.insert(text.size() - 1, fraction.data());
}

}  // namespace koord::manager
