// SPDX-License-Identifier: Apache-2.0
#include "core/http/async_client.hpp"

#include <utility>

#include "core/http/connections.hpp"
#include "core/http/exchange.hpp"

namespace koord::http {
namespace {

class Handle final : public AsyncClient::Pending {
 public:
  explicit Handle(std::shared_ptr<Exchange> exchange) : exchange_(std::move(exchange)) { exchange_->start(); }
  ~Handle() override { exchange_->cancel(); }
  bool was_sent() const override { return exchange_->was_sent(); }

 private:
  std::shared_ptr<Exchange> exchange_;
};

}  // namespace

AsyncClient::AsyncClient(event::Loop& loop, event::WorkerPool& workers, Origin origin, const AsyncLimits& limits)
    : connections_(std::make_shared<Connections>(loop, workers, std::move(origin), limits)) {}

AsyncClient::~AsyncClient() { connections_->close_kept(); }

AsyncClient::PendingPtr AsyncClient::send(AsyncRequest request, OnAnswer on_answer) {
  return stream(std::move(request), nullptr, std::move(on_answer));
}

AsyncClient::PendingPtr AsyncClient::stream(AsyncRequest request, OnPiece on_piece, OnAnswer on_answer,
                                            std::function<void()> on_begin) {
  return std::make_unique<Handle>(std::make_shared<Exchange>(connections_, std::move(request), std::move(on_piece),
                                                             std::move(on_answer), std::move(on_begin)));
}

void AsyncClient::renew(std::optional<TlsOptions> tls) { connections_->renew(std::move(tls)); }

std::uint64_t AsyncClient::connections_opened() const { return connections_->opened; }

std::uint64_t AsyncClient::requests_sent() const { return connections_->sent; }

}  // namespace koord::http
