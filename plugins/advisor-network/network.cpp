// SPDX-License-Identifier: Apache-2.0
#include "plugins/advisor-network/network.hpp"

#include "core/base/parse.hpp"

namespace koord::network {
namespace {

// Parses "bytes packets errs drop" and four more numbers.
std::optional<Traffic> parse_traffic(std::string_view& rest) {
  std::uint64_t values[8];
  for (std::uint64_t& value : values) {
    const Result<std::uint64_t> number = parse_uint(next_word(rest).value_or(""));
    if (!number) return std::nullopt;
    value = *number;
  }
  return Traffic{values[0], values[1], values[2], values[3]};
}

// Returns the rest of the next line that begins with "protocol: ".
std::optional<std::string_view> next_line_of(std::string_view& text, std::string_view protocol) {
  while (const auto line = next_field(text, '\n')) {
    if (line->size() > protocol.size() && line->starts_with(protocol) && (*line)[protocol.size()] == ':')
      return line->substr(protocol.size() + 1);
  }
  return std::nullopt;
}

}  // namespace

Traffic& Traffic::operator+=(const Traffic& other) {
  bytes += other.bytes;
  packets += other.packets;
  errors += other.errors;
  drops += other.drops;
  return *this;
}

Interfaces parse_dev(std::string_view text) {
  Interfaces interfaces;
  while (const auto line = next_field(text, '\n')) {
    const std::size_t colon = line->find(':');
    if (colon == std::string_view::npos) continue;
    const std::string_view name = trim(line->substr(0, colon));
    std::string_view rest = line->substr(colon + 1);
    const std::optional<Traffic> received = parse_traffic(rest);
    const std::optional<Traffic> sent = received ? parse_traffic(rest) : std::nullopt;
    if (sent && !name.empty()) interfaces.insert_or_assign(std::string(name), Interface{*received, *sent});
  }
  return interfaces;
}

Interface sum(const Interfaces& interfaces, const std::function<bool(const std::string&)>& counts) {
  Interface total;
  for (const auto& [name, interface] : interfaces) {
    if (!counts(name)) continue;
    total.received += interface.received;
    total.sent += interface.sent;
  }
  return total;
}

std::optional<std::uint64_t> find_counter(std::string_view text, std::string_view protocol, std::string_view name) {
  std::optional<std::string_view> names = next_line_of(text, protocol), values = next_line_of(text, protocol);
  if (!names || !values) return std::nullopt;
  while (const auto key = next_word(*names)) {
    const auto value = next_word(*values);
    if (!value) return std::nullopt;
    if (*key != name) continue;
    const Result<std::uint64_t> number = parse_uint(*value);
    return number ? std::optional(*number) : std::nullopt;
  }
  return std::nullopt;
}

Tcp parse_tcp(std::string_view snmp, std::string_view netstat) {
  return {find_counter(snmp, "Tcp", "OutSegs"), find_counter(snmp, "Tcp", "RetransSegs"),
          find_counter(netstat, "TcpExt", "ListenDrops")};
}

}  // namespace koord::network
