// SPDX-License-Identifier: Apache-2.0
// Reads and writes a Lease of coordination.k8s.io/v1 for leader election, as JSON. [any thread]
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/clock.hpp"
#include "core/base/result.hpp"
#include "core/kube/leader.hpp"

namespace koord::manager {

// The content of a Lease. Its times are only compared, never used in calculations.
struct LeaseRecord : kube::LeaseState {
  std::uint64_t versions = 0;  // upper bound of the resource versions so far (version_marks.hpp); 0: unknown
  std::string resource_version;
  std::string object;  // the whole object as JSON; empty: the object does not exist

  bool operator==(const LeaseRecord&) const = default;
};

// Like kube::parse_lease_state(). An annotation that is not a number is read as 0.
Result<LeaseRecord> parse_lease(std::string_view object);

// The annotation with LeaseRecord::versions.
inline constexpr std::string_view kVersionsAnnotation = "metrics.koordetector.sh/versions";

// Returns the object to create, or to replace the object that `record` was read from. Only the annotation and the
// members of LeaseRecord change in its spec and metadata.
Result<std::string> lease_json(const kube::LeasePlace& place, const LeaseRecord& record);

// Returns a time in the format of Leases: "2026-01-02T03:04:05.678000Z".
std::string format_micro_time(std::int64_t wall_ns);

using kube::address_of_identity;
using kube::make_identity;

}  // namespace koord::manager
