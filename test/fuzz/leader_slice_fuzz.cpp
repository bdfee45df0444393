// SPDX-License-Identifier: Apache-2.0
// An EndpointSlice of any content. After the update the leader is its only endpoint, and the slice is valid. Each
// address is either refused, or read by agents unchanged.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/kube/leader.hpp"
#include "core/manager/leader_slice.hpp"
#include "test/fuzz/check.hpp"

using namespace koord;
using namespace koord::manager;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const Result<LeaderEndpoint> endpoint = parse_endpoint(text)) {
    const Result<kube::HostAndPort> as_agents_read_it = kube::split_address(text);
    check(as_agents_read_it && *as_agents_read_it == kube::HostAndPort{endpoint->address, endpoint->port});
  }
  const LeaderEndpoint leader{
      .name_space = "ns", .service = "manager", .address = "10.0.0.7", .port = 9443, .pod = "manager-a"};
  has_other_addresses(text, leader);
  const auto changed = slice_with(text, leader);
  if (!changed || !changed->has_value()) return 0;
  const auto again = slice_with(**changed, leader);
  check(again.has_value() && !again->has_value());
  return 0;
}
