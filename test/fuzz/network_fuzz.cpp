// SPDX-License-Identifier: Apache-2.0
// net/dev, net/snmp and net/netstat of a network namespace with interface names that a container has chosen.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "plugins/advisor-network/network.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace koord::network;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const Interfaces interfaces = parse_dev(text);
  for (const auto& [name, interface] : interfaces) {
    if (name.empty() || !(sum({{name, interface}}, [](const std::string&) { return true; }) == interface)) std::abort();
  }
  sum(interfaces, [](const std::string& name) { return name != "lo"; });
  if (parse_tcp(text, text) != Tcp{find_counter(text, "Tcp", "OutSegs"), find_counter(text, "Tcp", "RetransSegs"),
                                   find_counter(text, "TcpExt", "ListenDrops")})
    std::abort();
  return 0;
}
