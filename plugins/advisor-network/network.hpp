// SPDX-License-Identifier: Apache-2.0
// Counters of one network namespace, from the text of /proc/<pid>/net. Pure: values in, values out.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace koord::network {

// Traffic of one interface since it was made, or the sum of several.
struct Traffic {
  std::uint64_t bytes = 0, packets = 0, errors = 0, drops = 0;

  Traffic& operator+=(const Traffic& other);
  bool operator==(const Traffic&) const = default;
};

struct Interface {
  Traffic received, sent;

  bool operator==(const Interface&) const = default;
};

// By name, with the loopback "lo".
using Interfaces = std::map<std::string, Interface, std::less<>>;

// net/dev. A line that is not of the form is left out.
Interfaces parse_dev(std::string_view text);

// The sum over the interfaces that `counts` agrees to.
Interface sum(const Interfaces& interfaces, const std::function<bool(const std::string&)>& counts);

// A value of net/snmp or net/netstat: a line of names and a line of values, both beginning with the protocol:
// "Tcp: InSegs OutSegs\nTcp: 5 7\n". Nothing where the kernel has no such counter.
std::optional<std::uint64_t> find_counter(std::string_view text, std::string_view protocol, std::string_view name);

// TCP since the namespace was made (RFC 4022 tcpOutSegs, tcpRetransSegs; TcpExt ListenDrops of the kernel).
struct Tcp {
  std::optional<std::uint64_t> segments_sent;  // without those sent again
  std::optional<std::uint64_t> retransmits;
  std::optional<std::uint64_t> listen_drops;  // connections that a listening socket could not take

  bool operator==(const Tcp&) const = default;
};

Tcp parse_tcp(std::string_view snmp, std::string_view netstat);

}  // namespace koord::network
