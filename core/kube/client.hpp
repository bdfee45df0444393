// SPDX-License-Identifier: Apache-2.0
// Client: requests to one server with Kubernetes' API, the API server or a kubelet, over HTTPS with connections kept
// and reused. It authenticates (token, client certificate) and reads credentials again when they are rotated or
// refused. It keeps to its rate: calls beyond it wait for their turn. Calls of a verb wait, for a minute at most, if
// the server has sent Retry-After with 429 or 503 for that verb; a disruption budget's 429 delays only its own call.
// Failed calls are not repeated: callers decide (reflector.hpp, update.hpp). Two cases are sent once more: a call lost
// on a kept connection that was dead, if that is safe, and a call refused with 401 if newer credentials exist. [loop
// thread]; names are looked up on a worker.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/clock.hpp"
#include "core/base/result.hpp"
#include "core/event/loop.hpp"
#include "core/event/worker_pool.hpp"
#include "core/http/message.hpp"
#include "core/kube/connection_config.hpp"
#include "core/kube/server_health.hpp"

namespace koord::kube {

enum class Verb : std::uint8_t { get, list, watch, create, update, patch, remove };

struct Call {
  Verb verb = Verb::get;
  std::string target;                             // path and query, "/api/v1/nodes/a?limit=1"
  std::string body = {};                          // JSON
  std::string content_type = "application/json";  // of a patch "application/merge-patch+json", …
  http::Headers headers = {};                     // further ones, such as Content-Encoding
  Duration timeout = std::chrono::seconds(10);  // from its turn to the end of the answer; of a watch: to its beginning
  Duration silence = std::chrono::minutes(6);   // of a watch: how long nothing may come before it is ended
  std::size_t max_body = 4u << 20;  // of a watch: of one line; of a download: of all that comes; etcd takes 1.5 MiB
};

// An answer of any status; refusal.hpp reads refusals.
struct Reply {
  unsigned status = 0;
  std::string body;
  std::optional<Duration> retry_after = std::nullopt;  // of the header Retry-After, where it is in seconds

  bool ok() const { return status >= 200 && status < 300; }
};

struct ClientOptions {
  double requests_per_second = 5;  // of all verbs but watch, and as many of that
  std::uint32_t burst = 10;
  std::size_t kept_connections = 4;
  ServerHealth::Options probes = {};
};

class Client {
 public:
  // Destroyed: the answer is dropped and nothing will be called. Ends before the client. Callbacks come from the loop,
  // never before send() or watch() has returned, and may destroy their own Pending.
  class Pending {
   public:
    virtual ~Pending() = default;
    // The server may have the request, also when no answer came. False: the request certainly never left.
    virtual bool was_sent() const { return true; }
  };
  using PendingPtr = std::unique_ptr<Pending>;

  // An error: no answer came, or none within the bounds.
  using OnReply = std::function<void(Result<Reply>)>;

  struct WatchHandlers {
    std::function<void(std::string_view line)> on_line;  // one event's JSON, without its newline
    // A line of more than Call::max_body bytes: its beginning, and its size. Empty: such a line ends the watch with an
    // error.
    std::function<void(std::string_view head, std::size_t bytes)> on_long_line = {};
    // The server has begun the watch; lines may come before. May be empty.
    std::function<void()> on_begin = {};
    // Once, when no line will follow: the server has ended the watch in order (a reply of status 200 without a body),
    // it refused to begin it (any other reply), or the connection broke.
    OnReply on_end;
  };

  struct Use {
    std::uint64_t requests = 0;     // sent
    std::uint64_t connections = 0;  // opened
    std::uint64_t failures = 0;     // without an answer
    std::uint64_t delayed = 0;      // by our own rate
  };

  Client(event::Loop& loop, event::WorkerPool& workers, const Clock& clock, ConnectionConfig config,
         const ClientOptions& options);
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  PendingPtr send(Call call, OnReply on_reply);
  PendingPtr watch(Call call, WatchHandlers handlers);
  // Hands the body of an answer of status 2xx on as it comes, so that it is never in memory as a whole; the reply has
  // none then. An error of `on_piece` ends the request with it. The bytes are valid during the call.
  using OnPiece = std::function<Result<void>(std::string_view)>;
  PendingPtr download(Call call, OnPiece on_piece, OnReply on_reply);

  // Health of the collections that are followed with this client.
  ServerHealth& server_health();
  const ConnectionConfig& config() const;
  Use use() const;  // [any]

 private:
  struct State;
  PendingPtr start(Call call, WatchHandlers handlers, OnPiece on_piece = {});
  std::shared_ptr<State> state_;
};

}  // namespace koord::kube
