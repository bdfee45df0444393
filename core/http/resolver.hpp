// SPDX-License-Identifier: Apache-2.0
// Resolver: the addresses of one server's name, looked up on a worker for each request. Requests during a look-up wait
// for it, so that a name server that does not answer blocks only one worker. [loop thread; the loop outlives the pool's
// tasks]
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/base/result.hpp"
#include "core/event/loop.hpp"
#include "core/event/worker_pool.hpp"
#include "core/http/socket_address.hpp"

namespace koord::http {

class Resolver : public std::enable_shared_from_this<Resolver> {
 public:
  using Addresses = Result<std::vector<SocketAddress>>;
  using OnAddresses = std::function<void(const Addresses&)>;

  // `host`: a name, or an address, which is not looked up.
  Resolver(event::Loop& loop, event::WorkerPool& workers, std::string host, std::uint16_t port);

  // Later, on the loop; not when what is returned has been dropped.
  std::shared_ptr<OnAddresses> ask(OnAddresses on_addresses);

 private:
  void answer(const Addresses& addresses);

  event::Loop& loop_;
  event::WorkerPool& workers_;
  const std::string host_;
  const std::uint16_t port_;
  std::vector<std::weak_ptr<OnAddresses>> waiting_;
  bool is_resolving_ = false;
};

}  // namespace koord::http
