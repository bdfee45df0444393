// SPDX-License-Identifier: Apache-2.0
// Session: the protocol on one connection, without the socket: bytes in, bytes out. [loop thread]
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/clock.hpp"
#include "core/base/result.hpp"
#include "core/event/loop.hpp"
#include "core/hook/nri/events.hpp"
#include "core/hook/nri/mux.hpp"
#include "core/hook/nri/options.hpp"
#include "core/hook/nri/plugin_service.hpp"
#include "core/hook/nri/runtime_calls.hpp"
#include "core/hook/nri/status.hpp"

namespace koord::nri {

class Session {
 public:
  struct Callbacks {
    std::function<void(std::string_view bytes)> send;
    std::function<void()> on_active;
    std::function<void(Error)> on_failure;  // the session is useless; do not destroy it in here
  };
  // Receives the ids of the containers that the runtime could not update.
  using OnUpdated = std::function<void(Result<std::vector<std::string>> failed)>;

  // All but the callbacks stay until the session is destroyed.
  Session(event::Loop& loop, const Clock& clock, const Options& options, Events& events, Status& status,
          Callbacks callbacks);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // Registers the plugin. The runtime may call before it answers that.
  void start();

  // Bytes from the runtime. After an error the session is useless.
  Result<void> take(std::string_view bytes);

  // Fails if a text is not UTF-8; `on_updated` is not called then.
  Result<void> update_containers(const std::vector<Update>& updates, OnUpdated on_updated);

  // The connection has ended. Nothing is sent any more; open calls fail.
  void end(const Error& why);

 private:
  void on_configured();
  void on_registered(Result<std::string> answer);

  const Options& options_;
  Events& events_;
  Status& status_;
  const Callbacks callbacks_;
  bool configured_ = false;
  std::shared_ptr<PluginService> service_;
  RuntimeCalls calls_;
  MessageReader service_messages_;
  MessageReader call_messages_;
  Demultiplexer streams_;
};

}  // namespace koord::nri
