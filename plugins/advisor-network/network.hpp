// SPDX-License-Identifier: Apache-2.0
// Parses counters of one network namespace from the text of /proc/<pid>/net. Pure: values in, values out.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace koord::network {

// Traffic of one interface since its creation, or the sum of several.
struct Traffic {
  std::uint64_t bytes = 0, packets = 0, errors = 0, drops = 0;

  Traffic& operator+=(const Traffic& other);
  bool operator==(const Traffic&) const = default;
};

struct Interface {
  Traffic received, sent;

  bool operator==(const Interface&) const = default;
};

// Interfaces by name, including the loopback "lo".
using Interfaces = std::map<std::string, Interface, std::less<>>;

// Parses net/dev. Lines in a different format are left out.
Interfaces parse_dev(std::string_view text);

// Returns the sum over the interfaces for which `counts` returns true.
Interface sum(const Interfaces& interfaces, const std::function<bool(const std::string&)>& counts);

// Returns a value of net/snmp or net/netstat. There a line of names is followed by a line of values, both beginning
// with the protocol: "Tcp: InSegs OutSegs\nTcp: 5 7\n". nullopt: the kernel has no such counter.
std::optional<std::uint64_t> find_counter(std::string_view text, std::string_view protocol, std::string_view name);

// TCP counters since the creation of the namespace (RFC 4022 tcpOutSegs, tcpRetransSegs; ListenDrops of TcpExt).
struct Tcp {
  std::optional<std::uint64_t> segments_sent;  // without retransmitted segments
  std::optional<std::uint64_t> retransmits;
  std::optional<std::uint64_t> listen_drops;  // connections that a listening socket could not accept

  bool operator==(const Tcp&) const = default;
};

Tcp parse_tcp(std::string_view snmp, std::string_view netstat);

}  // namespace koord::network
