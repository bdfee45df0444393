// SPDX-License-Identifier: Apache-2.0
// The leader of koord-manager as others see it: a Lease of coordination.k8s.io/v1, and the identity of its holder,
// which carries the address that the leader serves at. Agents and koordctl read both. [any thread]
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/clock.hpp"
#include "core/base/result.hpp"
#include "core/json/field.hpp"

namespace koord::kube {

struct LeasePlace {
  std::string name_space;
  std::string name;

  // The path of all Leases of the namespace.
  std::string collection() const { return "/apis/coordination.k8s.io/v1/namespaces/" + name_space + "/leases"; }
};
// "namespace/name"
Result<LeasePlace> parse_lease_place(std::string_view text);

struct LeaseState {
  std::string holder;  // an identity; empty: none
  Duration duration{};
  std::int64_t transitions = 0;
  std::string acquired, renewed;  // times as the holder's clock has them

  bool operator==(const LeaseState&) const = default;
};
// A time that is missing is empty, a duration that is missing or negative is zero.
Result<LeaseState> parse_lease_state(std::string_view lease);
Result<LeaseState> read_lease_state(const JsonField& lease);

struct HostAndPort {
  std::string host;  // an IPv6 address without brackets
  std::uint16_t port = 0;

  bool operator==(const HostAndPort&) const = default;
};
// "10.0.0.7:8443", "[fd00::1]:8443", "manager.test:8443".
Result<HostAndPort> split_address(std::string_view address);

// "10.0.0.7:8443/koord-manager-5c9f/9ab03d": the address to report to, the pod, and a number that no other start has.
std::string make_identity(std::string_view address, std::string_view pod, std::uint64_t random);
// Returns the address of an identity; empty: it has none, or an invalid one.
std::string address_of_identity(std::string_view identity);
// Returns the pod; empty: it has none.
std::string pod_of_identity(std::string_view identity);

}  // namespace koord::kube
