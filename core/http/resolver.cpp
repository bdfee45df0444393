// SPDX-License-Identifier: Apache-2.0
#include "core/http/resolver.hpp"

#include <netdb.h>

#include <cstring>
#include <utility>

namespace koord::http {
namespace {

using Found = std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)>;

Resolver::Addresses addresses_of(const std::string& host, std::uint16_t port, int flags) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV | flags;
  addrinfo* first = nullptr;
  const int failed = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &first);
  const int system = errno;
  const Found found(first, ::freeaddrinfo);
  if (failed != 0) {
    const std::string why = failed == EAI_SYSTEM ? std::strerror(system) : ::gai_strerror(failed);
    return Error{std::make_error_code(std::errc::host_unreachable), "cannot look up '" + host + "': " + why};
  }
  std::vector<SocketAddress> addresses;
  for (const addrinfo* one = found.get(); one != nullptr; one = one->ai_next) {
    SocketAddress address;
    if (one->ai_addrlen > sizeof address.storage) continue;
    std::memcpy(&address.storage, one->ai_addr, one->ai_addrlen);
    address.length = one->ai_addrlen;
    addresses.push_back(address);
  }
  return addresses;
}

}  // namespace

Resolver::Resolver(event::Loop& loop, event::WorkerPool& workers, std::string host, std::uint16_t port)
    : loop_(loop), workers_(workers), host_(std::move(host)), port_(port) {}

std::shared_ptr<Resolver::OnAddresses> Resolver::ask(OnAddresses on_addresses) {
  auto asked = std::make_shared<OnAddresses>(std::move(on_addresses));
  std::erase_if(waiting_, [](const auto& one) { return one.expired(); });
  waiting_.push_back(asked);
  if (std::exchange(is_resolving_, true)) return asked;
  if (Addresses known = addresses_of(host_, port_, AI_NUMERICHOST)) {
    loop_.post([weak = weak_from_this(), known = std::move(known)] {
      if (auto self = weak.lock()) self->answer(known);
    });
    return asked;
  }
  workers_.post([&loop = loop_, weak = weak_from_this(), host = host_, port = port_] {
    loop.post([weak, found = addresses_of(host, port, 0)] {
      if (auto self = weak.lock()) self->answer(found);
    });
  });
  return asked;
}

void Resolver::answer(const Addresses& addresses) {
  is_resolving_ = false;
  for (const auto& asked : std::exchange(waiting_, {})) {
    if (auto on_addresses = asked.lock()) (*on_addresses)(addresses);
  }
}

}  // namespace koord::http
