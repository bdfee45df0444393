// SPDX-License-Identifier: Apache-2.0
#include "core/kube/leader.hpp"

#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <cctype>
#include <charconv>
#include <limits>

#include "core/base/object_name.hpp"
#include "core/base/parse.hpp"
#include "core/json/reader.hpp"

namespace koord::kube {

Result<LeasePlace> parse_lease_place(std::string_view text) {
  const std::size_t slash = text.find('/');
  const bool is_place = slash != std::string_view::npos && is_dns_label(text.substr(0, slash)) &&
                        is_dns_subdomain(text.substr(slash + 1));
  if (!is_place)
    return invalid("expected NAMESPACE/NAME, such as 'koordetector/koord-manager', found '" + std::string(text) + "'");
  return LeasePlace{std::string(text.substr(0, slash)), std::string(text.substr(slash + 1))};
}

Result<LeaseState> parse_lease_state(std::string_view lease) {
  const boost::json::value document = TRY(read_json(lease));
  return read_lease_state(JsonField(document));
}

Result<LeaseState> read_lease_state(const JsonField& lease) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  TRY(lease.check_mapping());
  const JsonField spec = lease["spec"];
  TRY(spec.check_mapping());
  LeaseState state;
  state.holder = TRY(spec["holderIdentity"].text());
  const std::int64_t seconds = TRY(spec["leaseDurationSeconds"].integer(0));
  state.duration = std::chrono::seconds(std::clamp<std::int64_t>(seconds, 0, kMost));
  state.transitions = std::clamp<std::int64_t>(TRY(spec["leaseTransitions"].integer(0)), 0, kMost);
  state.acquired = TRY(spec["acquireTime"].text());
  state.renewed = TRY(spec["renewTime"].text());
  return state;
}

Result<HostAndPort> split_address(std::string_view address) {
  const Error refused = invalid("expected an address such as '10.0.0.7:8443', found '" + std::string(address) + "'");
  const std::size_t colon = address.rfind(':');
  if (colon == std::string_view::npos) return refused;
  const Result<std::uint64_t> port = parse_uint(address.substr(colon + 1));
  if (!port || *port == 0 || *port > std::numeric_limits<std::uint16_t>::max()) return refused;
  std::string_view host = address.substr(0, colon);
  const bool bracketed = host.starts_with('[') && host.ends_with(']');
  if (bracketed) host = host.substr(1, host.size() - 2);
  // Only an IPv6 address may be in brackets. Without brackets, the start of its port would be unclear.
  const auto allowed = [&](unsigned char c) {
    return std::isalnum(c) || c == '.' || (bracketed ? c == ':' : c == '-');
  };
  const bool has_colon = host.find(':') != std::string_view::npos;
  if (host.empty() || has_colon != bracketed || !std::all_of(host.begin(), host.end(), allowed)) return refused;
  return HostAndPort{std::string(host), static_cast<std::uint16_t>(*port)};
}

std::string make_identity(std::string_view address, std::string_view pod, std::uint64_t random) {
  std::array<char, 16> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), random, 16).ptr;
  return std::string(address) + '/' + std::string(pod) + '/' + std::string(digits.data(), end);
}

std::string address_of_identity(std::string_view identity) {
  const std::size_t slash = identity.find('/');
  if (slash == std::string_view::npos) return {};
  const std::string_view address = identity.substr(0, slash);
  return split_address(address) ? std::string(address) : std::string();
}

std::string pod_of_identity(std::string_view identity) {
  next_field(identity, '/');
  return std::string(next_field(identity, '/').value_or(""));
}

}  // namespace koord::kube
