// SPDX-License-Identifier: Apache-2.0
#include "core/http/server.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/http/connection.hpp"
#include "core/http/listener.hpp"
#include "core/http/socket_address.hpp"

namespace koord::http {
namespace {

constexpr std::string_view kFull =
    "HTTP/1.1 503 Service Unavailable\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: 21\r\n"
    "Connection: close\r\n\r\ntoo many connections\n";

constexpr std::string_view kForbidden =
    "HTTP/1.1 403 Forbidden\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: 12\r\n"
    "Connection: close\r\n\r\nnot allowed\n";

// At most this many refused peers get a reason. Connections of further refused peers are closed immediately, so they
// take no place of other clients.
constexpr std::size_t kMaxRefusalAnswers = 8;

// The properties of a listener, besides its socket.
struct Door {
  std::string unix_path = {};  // empty: TCP
  UnixAccess access = {};      // access rules of a unix socket
  std::shared_ptr<TlsServer> tls = nullptr;
};

// Sends an answer and closes. Best effort: the peer may see only a closed connection.
void refuse(const UniqueFd& peer, std::string_view answer = kFull) {
  (void)::send(peer.get(), answer.data(), answer.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  ::shutdown(peer.get(), SHUT_WR);
}

// Fixes the size of the send buffer. Otherwise the kernel would let it grow to megabytes for a peer that does not read.
void limit_send_buffer(int fd, std::size_t bytes) {
  const int size = static_cast<int>(bytes);
  ::setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
}

// Finds the process at the other end of a unix socket. If it is refused, the result has the reason.
ConnectionPeer identify(const UnixAccess& access, int fd) {
  Result<LocalPeer> peer = local_peer(fd);
  if (!peer) return {true, nullptr, peer.error().message()};
  const Result<void> admitted = access.admit ? access.admit(*peer) : Result<void>();
  return {true, std::make_shared<const LocalPeer>(*std::move(peer)), admitted ? "" : admitted.error().message()};
}

}  // namespace

// State of the server on the loop. Everything except the counters is used on the loop thread only.
class Server::Core : public std::enable_shared_from_this<Server::Core> {
 public:
  Core(event::Loop& loop, event::WorkerPool& workers, Routes routes, Limits limits)
      : service_(std::make_shared<Service>(loop, workers, std::move(routes), limits)) {
    service_->hold = [this](const Connection& by, ByteShare& share, std::uint64_t bytes) {
      return hold(by, share, bytes);
    };
  }

  void listen(UniqueFd fd, Door door) {
    auto shared = std::make_shared<UniqueFd>(std::move(fd));
    post([shared, door = std::move(door)](Core& core) { core.add_listener(std::move(*shared), door); });
  }

  void begin_stop(Duration bound, std::function<void()> stopped) {
    post([bound, stopped = std::move(stopped)](Core& core) { core.stop(bound, stopped); });
  }

  // Ends the server, and removes all its tasks from the loop.
  void close() {
    closed_ = true;
    listeners_.clear();
    cut_all();
    deadline_.reset();
  }

  Counters counters() const {
    return {service_->requests,         service_->errors,        refused_connections_,
            displaced_connections_,     open_connections_,       service_->failed_handshakes,
            service_->refused_requests, service_->memory->used()};
  }

 private:
  struct Entry {
    std::shared_ptr<Connection> connection;
    const Listener* listener;
    std::string peer;     // see peer_of()
    std::string network;  // see network_of()
    bool is_refused = false;
  };
  using IsOne = std::function<bool(const Entry&)>;

  // Runs a step on the loop, unless the server has ended before it.
  template <class Step>
  void post(Step step) {
    service_->loop.post([weak = weak_from_this(), step] {
      auto self = weak.lock();
      if (self && !self->closed_) step(*self);
    });
  }

  void add_listener(UniqueFd fd, const Door& door);
  void accept(const Listener& listener, const Door& door, UniqueFd peer);
  bool make_room(std::size_t most, const IsOne& is_one);
  bool take_from_greediest(const Listener& listener, const std::string& network);
  std::size_t count(const IsOne& is_one) const;
  bool displace(const IsOne& is_one);
  std::string greediest(const IsOne& is_one, std::string Entry::*key) const;
  bool free_memory(const Connection& wanting);
  bool hold(const Connection& by, ByteShare& share, std::uint64_t bytes);
  void stop(Duration bound, const std::function<void()>& stopped);
  void forget(Connection* connection);
  void cut_all();
  void end_stop_when_empty();

  std::shared_ptr<Service> service_;
  std::vector<std::unique_ptr<Listener>> listeners_;
  std::unordered_map<Connection*, Entry> connections_;
  std::unique_ptr<event::Timer> deadline_;
  std::vector<std::function<void()>> stopped_;
  bool stopping_ = false;
  bool closed_ = false;
  std::atomic<std::uint64_t> refused_connections_ = 0;
  std::atomic<std::uint64_t> displaced_connections_ = 0;
  std::atomic<std::uint64_t> open_connections_ = 0;
};

void Server::Core::add_listener(UniqueFd fd, const Door& door) {
  if (stopping_) return;
  auto listener = std::make_unique<Listener>(service_->loop, std::move(fd), door.unix_path);
  Listener& accepting = *listener;
  listeners_.push_back(std::move(listener));
  accepting.start([this, &accepting, door](UniqueFd peer) { accept(accepting, door, std::move(peer)); });
}

void Server::Core::accept(const Listener& listener, const Door& door, UniqueFd peer) {
  const Limits& limits = service_->limits;
  std::string address = peer_of(peer.get()), network = network_of(address);
  ConnectionPeer identified = listener.is_unix() ? identify(door.access, peer.get()) : ConnectionPeer{.tls = door.tls};
  const bool is_refused = !identified.refusal.empty();
  const auto of_listener = [&](const Entry& entry) { return entry.listener == &listener; };
  if (is_refused && (count([](const Entry& entry) { return entry.is_refused; }) >= kMaxRefusalAnswers ||
                     count(of_listener) >= limits.connections)) {
    ++refused_connections_;
    return refuse(peer, kForbidden);
  }
  const auto of_peer = [&](const Entry& entry) { return of_listener(entry) && entry.peer == address; };
  const auto of_network = [&](const Entry& entry) { return of_listener(entry) && entry.network == network; };
  const bool has_room = (listener.is_unix() || make_room(limits.connections_of_peer, of_peer)) &&
                        (network == address || make_room(limits.connections_of_network, of_network)) &&
                        (make_room(limits.connections, of_listener) || take_from_greediest(listener, network));
  if (!has_room) {
    ++refused_connections_;
    if (door.tls) return;  // no plain text is possible before the handshake
    return refuse(peer);
  }
  if (!listener.is_unix()) limit_send_buffer(peer.get(), limits.send_buffer_bytes);
  auto connection =
      Connection::open(service_, std::move(peer), std::move(identified), [this](Connection* over) { forget(over); });
  connections_.emplace(connection.get(),
                       Entry{connection, &listener, std::move(address), std::move(network), is_refused});
  ++open_connections_;
  connection->start();
}

// Makes room for one more connection of this kind. If necessary, closes the connection that has waited longest for a
// request.
bool Server::Core::make_room(std::size_t most, const IsOne& is_one) {
  if (count(is_one) < most) return true;
  return displace([&](const Entry& entry) { return is_one(entry) && entry.connection->is_waiting(); });
}

// Makes room when all connections are being answered. Closes a connection of the network that has the most, unless that
// network would then have fewer than this network with the new connection.
bool Server::Core::take_from_greediest(const Listener& listener, const std::string& network) {
  std::map<std::string, std::size_t> counts;
  for (const auto& [key, entry] : connections_)
    if (entry.listener == &listener) ++counts[entry.network];
  const auto greediest =
      std::max_element(counts.begin(), counts.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  if (greediest == counts.end() || greediest->second <= counts[network] + 1) return false;
  return displace([&](const Entry& entry) { return entry.listener == &listener && entry.network == greediest->first; });
}

std::size_t Server::Core::count(const IsOne& is_one) const {
  return static_cast<std::size_t>(
      std::count_if(connections_.begin(), connections_.end(), [&](const auto& entry) { return is_one(entry.second); }));
}

// Closes the oldest connection of this kind.
bool Server::Core::displace(const IsOne& is_one) {
  std::shared_ptr<Connection> oldest;
  for (const auto& [key, entry] : connections_)
    if (is_one(entry) && (!oldest || entry.connection->turn() < oldest->turn())) oldest = entry.connection;
  if (!oldest) return false;
  ++displaced_connections_;
  oldest->cut();
  return true;
}

// Returns the network or the address from which most bytes of these connections are being received.
std::string Server::Core::greediest(const IsOne& is_one, std::string Entry::*key) const {
  std::map<std::string, std::uint64_t> bytes;
  for (const auto& [connection, entry] : connections_)
    if (connection->held_bytes() > 0 && is_one(entry)) bytes[entry.*key] += connection->held_bytes();
  const auto most =
      std::max_element(bytes.begin(), bytes.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == bytes.end() ? std::string() : most->first;
}

// Refuses the request that began first, of the address with the most bytes in the network with the most bytes. Returns
// false, and refuses nothing, if that is the request that wants more memory.
bool Server::Core::free_memory(const Connection& wanting) {
  const std::string network = greediest([](const Entry&) { return true; }, &Entry::network);
  const auto of_network = [&](const Entry& entry) { return entry.network == network; };
  const std::string address = greediest(of_network, &Entry::peer);
  std::shared_ptr<Connection> first;
  for (const auto& [connection, entry] : connections_)
    if (connection->held_bytes() > 0 && entry.peer == address && (!first || connection->begun() < first->begun()))
      first = entry.connection;
  if (!first || first.get() == &wanting) return false;
  first->refuse_request();
  return true;
}

bool Server::Core::hold(const Connection& by, ByteShare& share, std::uint64_t bytes) {
  if (bytes <= share.bytes()) {
    share.shrink(share.bytes() - bytes);
    return true;
  }
  while (!share.grow(bytes - share.bytes()))
    if (!free_memory(by)) return false;
  return true;
}

void Server::Core::stop(Duration bound, const std::function<void()>& stopped) {
  if (stopped) stopped_.push_back(stopped);
  stopping_ = true;
  listeners_.clear();
  std::vector<std::shared_ptr<Connection>> finishing;
  for (const auto& [key, entry] : connections_) finishing.push_back(entry.connection);
  for (const auto& connection : finishing) connection->finish();
  if (!connections_.empty()) deadline_ = service_->loop.after(bound, [this] { cut_all(); });
  end_stop_when_empty();
}

void Server::Core::forget(Connection* connection) {
  // The connection is still in one of its own functions. It is destroyed together with its last handler.
  connections_.erase(connection);
  --open_connections_;
  if (stopping_ && !closed_) end_stop_when_empty();
}

void Server::Core::cut_all() {
  std::vector<std::shared_ptr<Connection>> cutting;
  for (const auto& [key, entry] : connections_) cutting.push_back(entry.connection);
  for (const auto& connection : cutting) connection->cut();
}

void Server::Core::end_stop_when_empty() {
  if (!connections_.empty()) return;
  for (const auto& stopped : std::exchange(stopped_, {})) service_->loop.post(stopped);
}

Server::Server(event::Loop& loop, event::WorkerPool& workers, Routes routes, Limits limits)
    : core_(std::make_shared<Core>(loop, workers, std::move(routes), limits)) {}

Server::~Server() { core_->close(); }

Result<std::uint16_t> Server::listen_tcp(std::string_view address) {
  UniqueFd fd = TRY(open_tcp_listener(address));
  std::uint16_t port = TRY(local_port(fd.get()));
  core_->listen(std::move(fd), {});
  return port;
}

Result<std::uint16_t> Server::listen_tls(std::string_view address, std::shared_ptr<TlsServer> tls) {
  UniqueFd fd = TRY(open_tcp_listener(address));
  std::uint16_t port = TRY(local_port(fd.get()));
  core_->listen(std::move(fd), {.tls = std::move(tls)});
  return port;
}

Result<void> Server::listen_unix(const std::string& path, UnixAccess access) {
  UniqueFd fd = TRY(open_unix_listener(path, access.group));
  core_->listen(std::move(fd), {.unix_path = path, .access = std::move(access)});
  return {};
}

void Server::stop(Duration bound, std::function<void()> stopped) { core_->begin_stop(bound, std::move(stopped)); }

Server::Counters Server::counters() const { return core_->counters(); }

}  // namespace koord::http
