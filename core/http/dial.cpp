// SPDX-License-Identifier: Apache-2.0
#include "core/http/dial.hpp"

#include <algorithm>
#include <utility>

namespace koord::http {
namespace {

// The timeout of an address, if further addresses follow. The last address may use the remaining time of the request.
constexpr Duration kPatience = std::chrono::seconds(2);

}  // namespace

Dial::~Dial() {
  if (channel_) channel_->close();
}

void Dial::start(Resolver& resolver) {
  asked_ = resolver.ask([weak = weak_from_this()](const Resolver::Addresses& addresses) {
    if (auto self = weak.lock()) self->on_addresses(addresses);
  });
}

void Dial::on_addresses(const Resolver::Addresses& addresses) {
  if (!addresses) return on_done_(addresses.error());
  left_ = *addresses;
  std::reverse(left_.begin(), left_.end());
  try_next();
}

void Dial::try_next() {
  const SocketAddress address = left_.back();
  left_.pop_back();
  const std::weak_ptr<Dial> weak = weak_from_this();
  const auto on_open = [weak] {
    auto self = weak.lock();
    if (!self) return;
    self->patience_.reset();
    self->on_done_(std::exchange(self->channel_, nullptr));
  };
  const auto fail = [weak](Error why) {
    if (auto self = weak.lock()) self->on_failure(std::move(why));
  };
  auto opening = Channel::open(
      loop_, address, tls_,
      {.on_open = on_open,
       .on_bytes = [](std::string_view) {},
       .on_end = [fail](Result<void> why) { fail(why ? system_error(ECONNRESET, "") : std::move(why).error()); }});
  if (!opening) return on_failure(std::move(opening).error());
  channel_ = std::move(opening).value();
  if (!left_.empty()) patience_ = loop_.after(kPatience, [fail] { fail(system_error(ETIMEDOUT, "")); });
}

void Dial::on_failure(Error why) {
  patience_.reset();
  if (channel_) channel_->close();
  channel_.reset();
  if (!left_.empty()) return try_next();
  on_done_(std::move(why));
}

}  // namespace koord::http
