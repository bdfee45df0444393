// SPDX-License-Identifier: Apache-2.0
// A Lease of coordination.k8s.io/v1 as leader election uses it, from and to JSON. [any thread]
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/clock.hpp"
#include "core/base/result.hpp"
#include "core/kube/leader.hpp"

namespace koord::manager {

// The times are only compared, never computed with.
struct LeaseRecord : kube::LeaseState {
  std::uint64_t versions = 0;  // no object has a greater resource version so far (version_marks.hpp); 0: unknown
  std::string resource_version;
  std::string object;  // the whole object as JSON; empty: none exists yet

  bool operator==(const LeaseRecord&) const = default;
};

// As kube::parse_lease_state(); an annotation that is not a number is zero.
Result<LeaseRecord> parse_lease(std::string_view object);

// The annotation with LeaseRecord::versions.
inline constexpr std::string_view kVersionsAnnotation = "metrics.koordetector.sh/versions";

// The object to create, or to replace the one that `record` was read from: all of it stays but the annotation and the
// members of the spec that are named in LeaseRecord.
Result<std::string> lease_json(const kube::LeasePlace& place, const LeaseRecord& record);

// "2026-01-02T03:04:05.678000Z", as the API server wants times of Leases.
std::string format_micro_time(std::int64_t wall_ns);

using kube::address_of_identity;
using kube::make_identity;

}  // namespace koord::manager
