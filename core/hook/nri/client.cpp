// SPDX-License-Identifier: Apache-2.0
#include "core/hook/nri/client.hpp"

#include <cerrno>
#include <utility>

namespace koord::nri {

Client::Client(event::Loop& loop, const Clock& clock, Options options, Events& events)
    : loop_(loop),
      clock_(clock),
      options_(std::move(options)),
      events_(events),
      backoff_(options_.first_retry, options_.longest_retry, options_.seed),
      watch_(loop, options_.socket_path, [this] { on_created(); }) {}

Client::~Client() = default;

void Client::start() { attempt(); }

// Tries to connect. The watch starts before the attempt, so it detects a socket that is created in between.
void Client::attempt() {
  retry_.reset();
  watch_.renew();
  ++status_.attempts;
  Result<void> connected = connect();
  if (connected) return watch_.stop();
  status_.last_error = connected.error().message();
  retry_later();
}

Result<void> Client::connect() {
  socket_ = TRY(Socket::connect(loop_, options_.socket_path,
                                {.on_bytes = [this](std::string_view bytes) { return session_->take(bytes); },
                                 .on_end = [this](Error why) { end(std::move(why)); }}));
  const auto fail_later = [this](Error why) {
    if (!session_) return;  // it is already ending
    failure_ = loop_.after(Duration::zero(), [this, why = std::move(why)] { end(why); });
  };
  session_ =
      std::make_unique<Session>(loop_, clock_, options_, events_, status_,
                                Session::Callbacks{.send = [this](std::string_view bytes) { socket_->send(bytes); },
                                                   .on_active = [this] { on_active(); },
                                                   .on_failure = fail_later});
  status_.state = ConnectionState::registering;
  registration_ = loop_.after(options_.registration_timeout, [this] {
    end(system_error(ETIMEDOUT, "the runtime did not complete the registration"));
  });
  session_->start();
  return {};
}

void Client::retry_later() {
  status_.state = ConnectionState::waiting;
  retry_ = loop_.after(backoff_.failed(), [this] { attempt(); });
}

// Connects to a new socket. It may not accept connections yet, so the delay of retries starts from its minimum.
void Client::on_created() {
  if (session_) return;
  backoff_.succeeded();
  attempt();
}

void Client::on_active() {
  if (status_.state == ConnectionState::active) return;
  registration_.reset();
  status_.state = ConnectionState::active;
  ++status_.connections;
  active_since_ = clock_.now();
}

// Ends the session. A short connection counts as a failure. So a runtime that drops the plugin repeatedly does not have
// to send all its pods ten times a second.
void Client::end(Error why) {
  const bool was_active = status_.state == ConnectionState::active;
  if (was_active && clock_.now() - active_since_ >= options_.longest_retry) backoff_.succeeded();
  status_.last_error = why.message();
  registration_.reset();
  failure_.reset();
  const auto session = std::exchange(session_, nullptr);
  socket_.reset();
  watch_.renew();
  retry_later();
  session->end(why);
}

void Client::update_containers(const std::vector<Update>& updates, Session::OnUpdated on_updated) {
  Result<void> sent = system_error(ENOTCONN, "no connection to the runtime");
  if (session_ && status_.state == ConnectionState::active) sent = session_->update_containers(updates, on_updated);
  if (sent) return;
  loop_.post([alive = std::weak_ptr(alive_), on_updated = std::move(on_updated), why = std::move(sent).error()] {
    if (alive.lock()) on_updated(Error(why).context("UpdateContainers"));
  });
}

}  // namespace koord::nri
