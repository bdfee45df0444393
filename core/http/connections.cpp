// SPDX-License-Identifier: Apache-2.0
#include "core/http/connections.hpp"

#include <algorithm>
#include <utility>

namespace koord::http {

Slot::~Slot() {
  if (auto owner = owner_.lock()) owner->on_slot_free();
}

Connections::Connections(event::Loop& loop, event::WorkerPool& workers, Origin origin, const AsyncLimits& limits)
    : loop_(loop),
      origin_(std::move(origin)),
      limits_(limits),
      resolver_(std::make_shared<Resolver>(loop, workers, origin_.host, origin_.port)) {}

std::optional<Lease> Connections::take_kept() {
  while (!kept_.empty()) {
    Lease last = std::move(kept_.back().lease);
    kept_.pop_back();
    last.channel->attach({});
    if (last.channel->alive()) return last;
    last.channel->close();
  }
  return std::nullopt;
}

std::shared_ptr<Slot> Connections::take_slot() {
  if (open_ >= limits_.open) return nullptr;
  ++open_;
  return std::make_shared<Slot>(weak_from_this());
}

std::shared_ptr<std::function<void()>> Connections::wait(std::function<void()> on_room) {
  std::erase_if(waiting_, [](const auto& one) { return one.expired(); });
  if (waiting_.size() >= limits_.waiting) return nullptr;
  auto waiting = std::make_shared<std::function<void()>>(std::move(on_room));
  waiting_.push_back(waiting);
  return waiting;
}

void Connections::keep(Lease connection) {
  if (connection.generation != generation_ || kept_.size() >= limits_.kept) return connection.channel->close();
  connection.used = true;
  // Further data from the server belongs to no request, so the connection is dropped.
  Channel* const channel = connection.channel.get();
  const auto drop_it = [weak = weak_from_this(), channel] {
    if (auto self = weak.lock()) self->drop(channel);
  };
  channel->attach({.on_open = {},
                   .on_bytes = [drop_it](std::string_view) { drop_it(); },
                   .on_end = [drop_it](const Result<void>&) { drop_it(); }});
  kept_.push_back({std::move(connection), loop_.after(limits_.idle, drop_it)});
  if (!waiting_.empty()) wake_next();
}

void Connections::drop(const Channel* channel) {
  const auto one = std::find_if(kept_.begin(), kept_.end(),
                                [channel](const Kept& kept) { return kept.lease.channel.get() == channel; });
  if (one == kept_.end()) return;
  const Kept dropped = std::move(*one);  // its slot is freed at the end of the scope, when the list is consistent again
  kept_.erase(one);
  dropped.lease.channel->close();
}

void Connections::renew(std::optional<TlsOptions> tls) {
  origin_.tls = std::move(tls);
  ++generation_;
  close_kept();
}

void Connections::close_kept() {
  for (const Kept& kept : std::exchange(kept_, {})) kept.lease.channel->close();
}

void Connections::on_slot_free() {
  --open_;
  wake_next();
}

// Wakes waiting requests from the loop, after the caller that has just returned a connection has finished.
void Connections::wake_next() {
  if (wake_timer_ || waiting_.empty()) return;
  wake_timer_ = loop_.after({}, [this] {
    wake_timer_.reset();
    while (!waiting_.empty() && (open_ < limits_.open || !kept_.empty())) {
      auto next = waiting_.front().lock();
      waiting_.pop_front();
      if (next) (*next)();
    }
  });
}

}  // namespace koord::http
