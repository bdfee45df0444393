// SPDX-License-Identifier: Apache-2.0
// A Stream with TLS. OpenSSL reads and writes memory only; this file reads and writes the socket. So neither a
// handshake nor a peer that does not read blocks the loop.
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <optional>
#include <utility>

#include "core/event/fd_watch.hpp"
#include "core/http/socket_address.hpp"
#include "core/http/stream.hpp"

namespace koord::http {
namespace {

constexpr std::size_t kTlsReadBlock = 16 << 10;
constexpr std::size_t kTlsWriteBlock = 64 << 10;  // encrypted in one step; the rest of a large answer is not copied
// The maximum of unsent bytes other than answers (handshake messages, alerts, key updates) for a peer that does not
// read.
constexpr std::size_t kMaxUnsentControl = 64 << 10;

constexpr std::string_view kPlainHttp =
    "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: 49\r\n"
    "Connection: close\r\n\r\nthis is an https port, and the request was plain\n";

bool is_passing_tls_error(int error) { return error == EAGAIN || error == EINTR; }

// Returns whether the peer sent plain HTTP. A TLS handshake record begins with 0x16, an HTTP method with a letter.
bool is_plain_http(std::string_view bytes) { return !bytes.empty() && bytes[0] >= 'A' && bytes[0] <= 'Z'; }

class TlsStream final : public Stream, public std::enable_shared_from_this<TlsStream> {
 public:
  TlsStream(event::Loop& loop, UniqueFd fd, std::shared_ptr<TlsServer> server)
      : loop_(loop), fd_(std::move(fd)), server_(std::move(server)) {}

  void open(OnOpen on_open) override;
  void read(OnBytes on_bytes) override;
  void pause() override {
    on_bytes_.reset();
    stop_watching();
  }
  void send(std::string header, std::shared_ptr<const std::string> body, OnSent on_sent) override;
  void shut() override;
  void close() override;
  std::shared_ptr<const TlsPeer> peer() override;

 private:
  using Clock = std::chrono::steady_clock;
  enum class Watched : std::uint8_t { nothing, reading, writing };

  void receive();
  void take(std::string_view bytes);
  bool go_on_shaking_hands();
  void fail_to_open(Error why);
  void give(std::string_view plain);
  void queue_control();
  bool encrypt_more();
  bool has_more_plain() const { return sent_plain_ < header_.size() + (body_ ? body_->size() : 0); }
  std::string_view next_plain() const;
  void write();
  void end_write(bool sent);
  void wait();
  void stop_watching() {
    watch_.reset();
    watched_ = Watched::nothing;
  }

  event::Loop& loop_;
  UniqueFd fd_;
  const std::shared_ptr<TlsServer> server_;
  std::optional<TlsSession> session_;
  std::unique_ptr<event::FdWatch> watch_;
  Watched watched_ = Watched::nothing;

  OnOpen on_open_;                           // set until the handshake has ended
  std::shared_ptr<const OnBytes> on_bytes_;  // set while the stream is read
  OnSent on_sent_;                           // set while an answer is sent
  bool is_open_ = false;
  bool has_failed_ = false;
  bool has_ended_ = false;  // the peer has ended the stream, and the reader was not informed
  bool is_first_ = true;    // nothing was received so far

  std::string unsent_;  // encrypted
  std::size_t sent_ = 0;
  std::string header_;
  std::shared_ptr<const std::string> body_;
  std::size_t sent_plain_ = 0;  // how much of header and body is encrypted

  std::shared_ptr<const TlsPeer> peer_;
  std::uint64_t accepted_generation_ = 0, peer_generation_ = 0;
  Clock::time_point verified_at_{};
};

void TlsStream::open(OnOpen on_open) {
  Result<TlsSession> session = server_->accept();
  if (!session) {
    has_failed_ = true;
    return on_open(std::move(session).error());
  }
  session_.emplace(*std::move(session));
  accepted_generation_ = server_->generation();
  on_open_ = std::move(on_open);
  wait();
}

// Starts reading. A connection that waits frees its buffers, because thousands of agents may be connected.
void TlsStream::read(OnBytes on_bytes) {
  if (is_open_ && !has_failed_ && unsent_.empty()) {
    session_->free_passed();
    std::string().swap(unsent_);
    std::string().swap(header_);
  }
  on_bytes_ = std::make_shared<const OnBytes>(std::move(on_bytes));
  if (!has_ended_) return wait();
  // Calls the reader later, because it is still in its own call of read().
  loop_.post([weak = weak_from_this()] {
    const auto self = weak.lock();
    if (self && self->on_bytes_) self->give({});
  });
}

void TlsStream::receive() {
  std::array<char, kTlsReadBlock> block;
  const ssize_t n = ::recv(fd_.get(), block.data(), block.size(), 0);
  if (n < 0 && is_passing_tls_error(errno)) return;
  const auto self = shared_from_this();
  if (n > 0) return take({block.data(), static_cast<std::size_t>(n)});
  if (!on_open_) return give({});
  fail_to_open(Error{std::make_error_code(std::errc::connection_reset), "TLS: the client ended the handshake"});
}

void TlsStream::take(std::string_view bytes) {
  if (has_failed_) return give(bytes);
  if (std::exchange(is_first_, false) && is_plain_http(bytes)) {
    unsent_ = kPlainHttp;
    return fail_to_open(Error{std::make_error_code(std::errc::protocol_error), "the request is plain HTTP"});
  }
  Result<void> taken = session_->incoming(bytes);
  if (!taken && on_open_) return fail_to_open(std::move(taken).error());
  if (!taken) return give({});
  if (on_open_ && !go_on_shaking_hands()) return;
  if (!fd_) return;
  std::string plain;
  const Result<bool> read = session_->read(plain);
  queue_control();
  if (!plain.empty()) give(plain);
  if (!fd_) return;
  if (!read || *read || unsent_.size() - sent_ > kMaxUnsentControl) return give({});
  if (!on_sent_) wait();
}

// Continues the handshake. Returns false if it is not finished or has failed.
bool TlsStream::go_on_shaking_hands() {
  Result<bool> done = session_->shake_hands();
  queue_control();  // may include a TLS alert that states for the client why the handshake failed
  if (!done) return fail_to_open(std::move(done).error()), false;
  if (!*done) return wait(), false;
  is_open_ = true;
  std::exchange(on_open_, {})({});
  return true;
}

void TlsStream::fail_to_open(Error why) {
  has_failed_ = true;
  if (!unsent_.empty()) (void)::send(fd_.get(), unsent_.data() + sent_, unsent_.size() - sent_, MSG_NOSIGNAL);
  unsent_.clear();
  sent_ = 0;
  stop_watching();
  std::exchange(on_open_, {})(std::move(why));
}

// Passes bytes to the reader, which may close the stream. Without a reader an answer is being made or sent.
void TlsStream::give(std::string_view plain) {
  const auto reader = on_bytes_;
  if (reader) return (*reader)(plain);
  has_ended_ = has_ended_ || plain.empty();
  wait();
}

void TlsStream::queue_control() {
  unsent_ += session_->outgoing();
  if (unsent_.size() == sent_) return;
  const ssize_t n = ::send(fd_.get(), unsent_.data() + sent_, unsent_.size() - sent_, MSG_NOSIGNAL);
  if (n > 0) sent_ += static_cast<std::size_t>(n);
  if (sent_ < unsent_.size()) return;
  unsent_.clear();
  sent_ = 0;
}

void TlsStream::send(std::string header, std::shared_ptr<const std::string> body, OnSent on_sent) {
  pause();
  header_ = std::move(header);
  body_ = std::move(body);
  sent_plain_ = 0;
  on_sent_ = std::move(on_sent);
  write();
}

std::string_view TlsStream::next_plain() const {
  if (sent_plain_ < header_.size()) return std::string_view(header_).substr(sent_plain_);
  return std::string_view(*body_).substr(sent_plain_ - header_.size());
}

// Encrypts the next part. Returns false if that fails.
bool TlsStream::encrypt_more() {
  for (std::size_t block = 0; block < kTlsWriteBlock && has_more_plain();) {
    const std::string_view part = next_plain().substr(0, kTlsWriteBlock - block);
    if (!session_->write(part)) return false;
    sent_plain_ += part.size();
    block += part.size();
  }
  unsent_ += session_->outgoing();
  return true;
}

// Sends bytes. Makes one system call, even if a second could send more, because the loop has other connections to
// serve.
void TlsStream::write() {
  const auto self = shared_from_this();
  if (unsent_.empty() && on_sent_ && !encrypt_more()) return end_write(false);
  const ssize_t n = ::send(fd_.get(), unsent_.data() + sent_, unsent_.size() - sent_, MSG_NOSIGNAL);
  if (n < 0 && !is_passing_tls_error(errno)) return end_write(false);
  if (n > 0) sent_ += static_cast<std::size_t>(n);
  if (sent_ == unsent_.size()) {
    unsent_.clear();
    sent_ = 0;
    if (!has_more_plain()) return end_write(true);
  }
  wait();
}

void TlsStream::end_write(bool sent) {
  header_.clear();
  body_.reset();
  sent_plain_ = 0;
  stop_watching();
  if (on_sent_) return std::exchange(on_sent_, {})(sent);
  if (sent) return wait();
  // The reader learns the reason from the socket.
  unsent_.clear();
  sent_ = 0;
  wait();
}

// Waits for the socket: to write if bytes are unsent, else to read if bytes are wanted.
void TlsStream::wait() {
  const bool writes = !unsent_.empty() || on_sent_;
  const bool reads = !writes && (on_bytes_ || on_open_);
  const Watched wanted = writes ? Watched::writing : reads ? Watched::reading : Watched::nothing;
  if (wanted == watched_) return;
  stop_watching();
  if (!fd_ || wanted == Watched::nothing) return;
  auto watching =
      writes ? loop_.on_writable(fd_.get(), [this] { write(); }) : loop_.on_readable(fd_.get(), [this] { receive(); });
  if (watching) {
    watch_ = std::move(watching).value();
    watched_ = wanted;
  } else if (on_open_) {
    fail_to_open(std::move(watching).error());
  } else if (on_sent_) {
    std::exchange(on_sent_, {})(false);
  } else {
    unsent_.clear();
    sent_ = 0;
    give({});
  }
}

void TlsStream::shut() {
  if (is_open_ && !has_failed_) {
    session_->end();
    queue_control();
  }
  ::shutdown(fd_.get(), SHUT_WR);
}

void TlsStream::close() {
  pause();
  on_open_ = {};
  on_sent_ = {};
  fd_.reset();
}

std::shared_ptr<const TlsPeer> TlsStream::peer() {
  const std::uint64_t generation = server_->generation();
  const auto now = Clock::now();
  if (peer_ && generation == peer_generation_ && (!peer_->certificate || now - verified_at_ < TlsServer::kVerifyPeriod))
    return peer_;
  peer_generation_ = generation;
  verified_at_ = now;
  TlsPeer peer = server_->peer_of(*session_);
  peer.address = peer_of(fd_.get());
  peer.is_outdated = generation != accepted_generation_;
  peer_ = std::make_shared<const TlsPeer>(std::move(peer));
  return peer_;
}

}  // namespace

std::shared_ptr<Stream> make_tls_stream(event::Loop& loop, UniqueFd fd, std::shared_ptr<TlsServer> server) {
  return std::make_shared<TlsStream>(loop, std::move(fd), std::move(server));
}

}  // namespace koord::http
